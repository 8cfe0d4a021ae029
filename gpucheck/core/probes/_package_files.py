"""Files of packages that are damaged, or hidden by a user's file of the same name, found without importing anything.

Installed files are compared with pip's list of them (RECORD): sizes always, hashes with --full. Format
of RECORD: Python Packaging User Guide, "Recording installed projects": lines of path, algorithm=hash, size.
"""

import posixpath
import re
import time
from collections.abc import Iterable, Iterator

import msgspec

from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.probes import _elf
from gpucheck.core.probes._distributions import FLAVOURS, RECORD_BYTES, Installed

HASH_SECONDS = 20.0  # of --full: the remaining files are not checked
CHUNK_BYTES = 1 << 24
# Only native code can be truncated without an error. Patterns are compiled on demand: each takes as long as reading.
_NATIVE = {"win32": rb"\.(?:pyd|dll),", "darwin": rb"\.(?:so|dylib),"}
_NATIVE_ELSEWHERE = rb"\.so[.\d]*,"
_FOLDER_OF = {"protobuf": "google/protobuf"}  # if the folder's name differs from the package's
_HEADERS = b"\ntensorflow/include/"  # 90 % of TensorFlow's list, which pip and uv write sorted
_NOT_NEEDED = r"tests?\b|/lite/"  # images omit them to be smaller

INSTALLED = ("site-packages", "dist-packages")
# Distribution -> module, if it is not its name with "_".
_MODULE_OF = {"absl-py": "absl", "protobuf": "google", "google-pasta": "pasta", "grpcio": "grpc"}

# Modules of the standard library whose namesake in the program's folder breaks the import of TensorFlow: each was tried, with a
# file that defines something else, on Python 3.11 with TensorFlow 2.21. Python 3.10 to 3.13 import them too. Others do not break
# it (copy, fractions, signal), or an editable installation has loaded them at Python's start.
_STANDARD = """
ast base64 bisect calendar cmd concurrent contextvars ctypes dataclasses datetime decimal hashlib heapq
inspect json logging multiprocessing numbers pickle platform queue random socket string struct threading token tokenize
traceback typing
"""
STANDARD = frozenset(_STANDARD.split())
# The .pth files of setuptools, of editable installations and of coverage, which load none of these modules.
_HARMLESS = ("distutils-precedence", "__editable__", "a1_coverage")
_BEGINNING = 64  # bytes by which a copy of a module is recognized


class DamagedFile(Fact, frozen=True, kw_only=True):
    """A file that differs from its RECORD."""

    package: str  # normalized: "nvidia-cudnn-cu12"
    version: str
    path: str
    problem: str  # "missing", "empty", "truncated", "not a library", "built for aarch64", "changed" (its hash)
    recorded_bytes: int
    found_bytes: int | None = None  # None: it is missing


class _Recorded(msgspec.Struct, frozen=True):
    """A line of RECORD."""

    package: Installed
    name: str  # relative to site-packages
    path: str
    hash: str  # "sha256=...", base64 without padding
    size_bytes: int


def damaged(host: Host, packages: Iterable[Installed]) -> tuple[DamagedFile, ...]:
    """Return these packages' native libraries that are truncated or missing; with --full, also those with other content."""
    recorded = [entry for package in packages for entry in _recorded(host, package)]
    sizes = host.sizes([entry.path for entry in recorded])
    found: list[DamagedFile] = []
    intact: list[_Recorded] = []
    for entry, size in zip(recorded, sizes, strict=True):
        problem = _problem(host, entry, size)
        if problem is not None:
            found.append(_damaged(entry, problem, size))
        elif size == entry.size_bytes:
            intact.append(entry)
    if host.request.level >= Level.FULL:
        found += [_damaged(entry, "changed", entry.size_bytes) for entry in _changed(host, intact)]
    return tuple(found)


def _recorded(host: Host, package: Installed) -> Iterator[_Recorded]:
    """Yield the native libraries, and the package's __init__.py; nothing if the list is unreadable."""
    data = host.read_bytes(f"{package.folder}/{package.metadata}/RECORD", size=RECORD_BYTES) or b""
    first, last = data.find(_HEADERS), data.rfind(_HEADERS)
    data = data if first < 0 else data[:first] + data[last:]
    places = [match.start() for match in re.finditer(_NATIVE.get(host.platform, _NATIVE_ELSEWHERE), data)]
    module = _FOLDER_OF.get(package.name, package.name.replace("-", "_"))
    initial = data.find(f"{module}/__init__.py,".encode())
    if initial == 0 or data[initial - 1 : initial] == b"\n":
        places.append(initial)
    for place in places:
        start, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
        parts = data[start : end if end >= 0 else None].decode("utf-8", "replace").rstrip("\r").rsplit(",", 2)
        if len(parts) == 3 and parts[2].isdigit() and '"' not in parts[0]:
            yield _Recorded(package, parts[0], f"{package.folder}/{parts[0]}", parts[1], int(parts[2]))


def _problem(host: Host, entry: _Recorded, size: int | None) -> str | None:
    """Return the problem of a file, judged by its size. A complete file of another size was stripped or replaced, not damaged."""
    if size == entry.size_bytes:
        return None
    if size is None:  # the probe ``libraries`` reports NVIDIA's missing libraries
        optional = entry.package.name.startswith("nvidia-") or re.search(_NOT_NEEDED, entry.name)
        return None if optional else "missing"
    if size == 0:
        return "empty"
    if entry.path.endswith(".py"):
        return None
    if host.platform == "linux":
        problem = _elf.problem(host, entry.path, host.uname()[2])
        return None if problem == "unreadable" else problem
    return "truncated" if size < entry.size_bytes else None


def _damaged(entry: _Recorded, problem: str, size: int | None) -> DamagedFile:
    return DamagedFile(
        package=entry.package.name,
        version=entry.package.version,
        path=posixpath.normpath(entry.path),
        problem=problem,
        recorded_bytes=entry.size_bytes,
        found_bytes=size,
    )


def _changed(host: Host, entries: list[_Recorded]) -> Iterator[_Recorded]:
    """Yield the files with other content, except conda's, which writes its own paths into files without changing the size."""
    deadline = time.monotonic() + min(HASH_SECONDS, host.remaining() / 4)
    by_conda: dict[str, bool] = {}
    for entry in sorted(entries, key=lambda entry: entry.size_bytes):
        folder = f"{entry.package.folder}/{entry.package.metadata}"
        if folder not in by_conda:
            by_conda[folder] = (host.read(f"{folder}/INSTALLER", limit_bytes=64) or "").strip() == "conda"
        if by_conda[folder] or not entry.hash.startswith("sha256="):
            continue
        digest = _sha256(host, entry, deadline)
        if digest is None:
            return
        if digest != entry.hash.removeprefix("sha256="):
            yield entry


def _sha256(host: Host, entry: _Recorded, deadline: float) -> str | None:
    """Return a file's hash in RECORD's format; None if it was not read before the deadline."""
    import base64
    import hashlib

    digest = hashlib.sha256()
    for offset in range(0, entry.size_bytes, CHUNK_BYTES):
        if time.monotonic() > deadline:
            return None
        digest.update(host.read_bytes(entry.path, offset, CHUNK_BYTES) or b"")
    return base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")


def hidden(host: Host, interpreter: Interpreter, distributions: dict[str, Installed], names: Iterable[str]) -> dict[str, str]:
    """Return the file or folder that shadows each module, by module.

    Args:
        host: the machine.
        interpreter: the examined one.
        distributions: those installed for it.
        names: distributions to check; those that are not installed are ignored.
    """
    homes = {_module(name): distributions[name].folder for name in names if name in distributions}
    packages, path = set(homes.values()), interpreter.path
    homes |= dict.fromkeys(STANDARD, interpreter.stdlib)
    behind = path[path.index(interpreter.stdlib) :] if interpreter.stdlib in path else path
    found: dict[str, str] = {}
    for folder in _before(host, interpreter, packages):
        for entry in sorted(homes.keys() & {name.removesuffix(".py") for name in host.names(folder)}):
            if entry in STANDARD and (folder in behind or _may_load_first(host, path)):
                continue
            file = _hides(host, folder, entry, homes[entry])
            if file is not None:
                found.setdefault(entry, file)
    return found


def _may_load_first(host: Host, path: Iterable[str]) -> bool:
    """Whether a .pth file runs code at Python's start: it may load the module before the program's folder is on the path."""
    return any(
        re.search(r"^import[ \t]", host.read(f"{folder}/{name}") or "", re.MULTILINE)
        for folder in path
        if posixpath.basename(folder) in INSTALLED
        for name in host.names(folder)
        if name.endswith(".pth") and not name.startswith(_HARMLESS)
    )


def _module(name: str) -> str:
    return _MODULE_OF.get(name, "tensorflow" if name in FLAVOURS else name.replace("-", "_"))


def _before(host: Host, interpreter: Interpreter, homes: set[str]) -> Iterator[str]:
    """Yield the folders that Python searches before site-packages."""
    folders = list(interpreter.path)
    if host.request.python is None:  # gpucheck's own sys.path lacks the current folder, which a user's program has
        folders.insert(0, host.real("."))
    for folder in folders:
        if folder in homes:
            return
        if posixpath.basename(folder) not in INSTALLED and folder != interpreter.stdlib and _is_ours(host, folder):
            yield folder


def _is_ours(host: Host, folder: str) -> bool:
    """Whether children have the folder on their path; they exclude the current folder if others can write to it."""
    status = host.stat(folder) if folder == host.real(".") else None
    return status is None or not status.mode & 0o022


def _hides(host: Host, folder: str, module: str, home: str) -> str | None:
    """Return the file or folder that shadows the module, unless it is a copy of the package, such as a checkout of its source."""
    own = set(host.names(f"{folder}/{module}"))
    if "__init__.py" in own:
        installed = {*host.names(f"{home}/{module}")} - {"__init__.py"}
        return f"{folder}/{module}" if not installed or len(own & installed) * 2 < len(installed) else None
    file, other = f"{folder}/{module}.py", f"{home}/{module}.py"
    size, other_size = host.sizes([file, other])
    if module in STANDARD:  # many are as short as a user's program
        copied = host.read_bytes(file, size=_BEGINNING) == host.read_bytes(other, size=_BEGINNING)
    else:
        copied = other_size is not None and size is not None and size * 2 >= other_size
    return None if size is None or copied else file  # a copy of a single-file module works
