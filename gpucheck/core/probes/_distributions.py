"""Installed distributions by the names of their metadata folders: one directory listing per entry of ``sys.path``."""

import functools
import heapq
import itertools
import re
from collections.abc import Container, Iterable

import msgspec

from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.host import Host

# Distributions that install into the folder ``tensorflow``.
_FLAVOURS = """
tensorflow tensorflow-cpu tensorflow-gpu tensorflow-rocm tensorflow-intel tensorflow-macos tensorflow-cpu-aws tensorflow-aarch64
tensorflow-tpu intel-tensorflow intel-tensorflow-avx512 tf-nightly tf-nightly-cpu tf-nightly-gpu tf-nightly-tpu
"""
FLAVOURS = frozenset(_FLAVOURS.split())
# Those of them that are built without CUDA.
WITHOUT_CUDA = FLAVOURS - {"tensorflow", "tensorflow-gpu", "tf-nightly", "tf-nightly-gpu"}

RECORD_BYTES = 1 << 23
_SAMPLE = 8  # files of a distribution that are compared with its RECORD, the largest
# Wheels have "name-version.dist-info"; setuptools and Debian write "name-version-py3.11.egg-info". An interrupted pip leaves
# names that start with "~".
_METADATA = re.compile(r"([A-Za-z0-9][\w.-]*?)-(\d[^-]*)(?:-py[\d.]+)?\.(?:dist|egg)-info")


class Installed(msgspec.Struct, frozen=True):
    """One metadata folder."""

    name: str  # normalized: "nvidia-cudnn-cu12"
    version: str
    folder: str  # the site-packages folder
    metadata: str  # the metadata folder's own name


class ExaminationError(Exception):
    """The interpreter to examine did not describe itself."""


def interpreter(host: Host) -> Interpreter:
    """Return the examined interpreter's description.

    Raises:
        ExaminationError: it could not be started, or did not respond.
    """
    answer = host.interpreter()
    if isinstance(answer, str):
        raise ExaminationError(f"{host.request.python or 'the interpreter'} could not be examined: {answer}")
    return answer


def installed(host: Host, folders: Iterable[str], only: Container[str] = ()) -> dict[str, Installed]:
    """Return distributions by normalized name, all or ``only`` these; the first one on the path wins, as for import.

    An interrupted upgrade leaves metadata without its files. If a folder has several, the files on disk decide.
    """
    several: dict[str, list[Installed]] = {}
    for folder in folders:
        for name in host.names(folder):
            distribution = parse(name, folder) if name.endswith("-info") else None
            if distribution is not None and (not only or distribution.name in only):
                several.setdefault(distribution.name, []).append(distribution)
    return {name: candidates[0] if len(candidates) == 1 else _on_disk(host, candidates) for name, candidates in several.items()}


def _on_disk(host: Host, candidates: list[Installed]) -> Installed:
    """Return the candidate whose RECORD matches most of the files on disk, from the first folder that has any of them."""
    for _, same in itertools.groupby(candidates, key=lambda candidate: candidate.folder):
        shares = {candidate: _share(host, candidate) for candidate in same}
        best = max(shares, key=lambda candidate: shares[candidate])
        if shares[best]:
            return best
    return candidates[0]


def _share(host: Host, candidate: Installed) -> float:
    """Return the share of its largest files, in bytes, that is on disk with the recorded size: 0 to 1."""
    record = host.read(f"{candidate.folder}/{candidate.metadata}/RECORD", limit_bytes=RECORD_BYTES)
    if record is None:
        return float(candidate.metadata.endswith(".egg-info"))  # which has no RECORD; metadata from pip without it is damaged
    lines = re.finditer(r"^([^,\n]+),[^,\n]*,(\d+)\r?$", record, re.MULTILINE)
    files = ((int(line[2]), line[1]) for line in lines if not line[1].startswith(candidate.metadata))
    largest = heapq.nlargest(_SAMPLE, files)
    found = host.sizes([f"{candidate.folder}/{name}" for _, name in largest])
    matching = sum(recorded for size, (recorded, _) in zip(found, largest, strict=True) if size == recorded)
    return matching / (sum(recorded for recorded, _ in largest) or 1)


@functools.lru_cache(4096)  # several probes list the same folders
def parse(name: str, folder: str) -> Installed | None:
    """Return name and version from a metadata folder's name; None for another name."""
    match = _METADATA.fullmatch(name)
    if match is None:
        return None
    return Installed(normalized(match[1]), match[2], folder, name)


def normalized(name: str) -> str:
    """Return a distribution's name, normalized as in PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def flavours(distributions: dict[str, Installed]) -> list[Installed]:
    """Return every distribution that provides ``tensorflow``, the plain one first."""
    return sorted(
        (distribution for distribution in distributions.values() if distribution.name in FLAVOURS),
        key=lambda distribution: (distribution.name != "tensorflow", distribution.name),
    )


def tensorflow_folder(host: Host, folders: Iterable[str]) -> str | None:
    """Return the folder that ``import tensorflow`` uses: the first on the path that is a package."""
    for folder in folders:
        path = f"{folder}/tensorflow"
        if "__init__.py" in host.names(path):
            return path
    return None


def provider(host: Host, candidates: list[Installed], folder: str | None) -> Installed | None:
    """Return the flavour that the files on disk belong to: pip lets the one installed last overwrite the others.

    Without a RECORD that describes them, the plain name is chosen.
    """
    if folder is not None:
        site = folder.rpartition("/")[0]
        candidates = [candidate for candidate in candidates if candidate.folder == site] or candidates
    if len(candidates) > 1 and folder is not None:
        return _on_disk(host, candidates)
    return candidates[0] if candidates else None
