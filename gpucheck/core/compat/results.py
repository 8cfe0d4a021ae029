"""Results of CUDA and NVML by every way they are spelled: the number, the name in C or in Python, and the sentence."""

import pkgutil
from functools import lru_cache
from typing import NamedTuple


class Result(NamedTuple):
    """A result code."""

    code: str
    name: str  # "CUDA_ERROR_NO_DEVICE"
    message: str  # how the vendor's sentence begins, in lower case
    meaning: str = ""  # to somebody training; empty: not known


def cuda(spelled: str) -> Result | None:
    """The CUDA result that is meant by ``"802"``, ``"cudaErrorNoDevice"`` or ``"out of memory: ..."``; None if unknown."""
    return _lookup("cuda_results.txt", spelled)


def nvml(spelled: str) -> Result | None:
    """The NVML result that is meant by a number, a name or a sentence; None if unknown."""
    return _lookup("nvml_results.txt", spelled)


def _lookup(table: str, spelled: str) -> Result | None:
    wanted = spelled.strip(" \t.,:;'\"").lower()
    results = table_of(table)
    if wanted in results:
        return results[wanted]
    sentences = (key for key in results if " " in key and wanted.startswith(key))
    best = max(sentences, key=len, default=None)
    return None if best is None else results[best]


@lru_cache(maxsize=2)
def table_of(table: str) -> dict[str, Result]:
    """Every result by each of its spellings; what is spelled twice is the first one."""
    results: dict[str, Result] = {}
    for row in (pkgutil.get_data(__name__, table) or b"").decode().splitlines():
        if row.startswith("#"):
            continue
        code, name, other, message, *meaning = row.split("|")
        result = Result(code, name or other, message, *meaning)
        for key in filter(None, (code, name, other, message)):
            results.setdefault(key.lower(), results.get(code, result))
    return results
