"""Results of CUDA and NVML, by each of their spellings: the number, the name in C or Python, and the message."""

import pkgutil
from functools import lru_cache

import msgspec


class Result(msgspec.Struct, frozen=True):
    """A result code."""

    code: str
    name: str  # "CUDA_ERROR_NO_DEVICE"
    message: str  # the start of the vendor's message, in lower case
    meaning: str = ""  # for training; empty: unknown


def cuda(spelled: str) -> Result | None:
    """Return the CUDA result for ``"802"``, ``"cudaErrorNoDevice"`` or ``"out of memory: ..."``; None if unknown."""
    return _lookup("cuda_results.txt", spelled)


def nvml(spelled: str) -> Result | None:
    """Return the NVML result for a number, a name or a message; None if unknown."""
    return _lookup("nvml_results.txt", spelled)


def _lookup(table: str, spelled: str) -> Result | None:
    normalized = spelled.strip(" \t.,:;'\"").lower()
    results = table_of(table)
    if normalized in results:
        return results[normalized]
    sentences = (key for key in results if " " in key and normalized.startswith(key))
    best = max(sentences, key=len, default=None)
    return None if best is None else results[best]


@lru_cache(maxsize=2)
def table_of(table: str) -> dict[str, Result]:
    """Return every result by each of its spellings; the first of duplicates is used."""
    results: dict[str, Result] = {}
    for row in (pkgutil.get_data(__name__, table) or b"").decode().splitlines():
        if row.startswith("#"):
            continue
        code, name, other, message, *meaning = row.split("|")
        result = Result(code, name or other, message, *meaning)
        for key in filter(None, (code, name, other, message)):
            results.setdefault(key.lower(), results.get(code, result))
    return results
