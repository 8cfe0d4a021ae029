"""The search order of glibc's loader for a library that another library opens, and the copy that it chooses.

Sources: ld.so(8) and dlopen(3); elf/dl-load.c of glibc for skipped files. Measured with glibc 2.36: a library built for another
machine and an unreadable file are skipped silently; an empty file, a file that is not a library and a folder of that name end
the search with an error; a truncated one is mapped, and kills the process (SIGBUS) on access.
"""

import posixpath
import struct
from collections.abc import Iterator

import msgspec

from gpucheck.core.host import Host
from gpucheck.core.probes import _elf

_CACHE = "/etc/ld.so.cache"
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_CACHE_FLAGS = {"x86_64": 0x0303, "aarch64": 0x0A03}  # ldconfig.h: FLAG_ELF_LIBC6 with the machine's own flag


class Copy(msgspec.Struct, frozen=True):
    """One file that the loader may choose."""

    path: str
    source: str  # "LD_PRELOAD", "LD_LIBRARY_PATH", "RPATH", "RUNPATH", "ld.so.cache", "default"
    problem: str | None = None


class Loader:
    """The loader's search in a process where one library calls dlopen."""

    def __init__(self, host: Host, caller: str | None, runpath: tuple[str, ...] = ()) -> None:
        """Read the search path of the calling library.

        Args:
            host: the machine.
            caller: path of that library; None if it is unknown.
            runpath: folders to assume if its headers can't be read.
        """
        self._host = host
        self._machine = host.uname()[2]
        self.library_path = tuple(entry for entry in host.env.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":") if entry)
        self.preloaded = tuple(host.env.get("LD_PRELOAD", "").replace(":", " ").split())
        search_path = _elf.search_path(host, caller) if caller else None
        self.readable = search_path is not None
        rpath, own = search_path or ((), runpath)
        self.kind = "RPATH" if rpath and not own else "RUNPATH"
        self.runpath = _expanded(host, own or rpath, caller)
        self._folders = tuple(self._ordered())
        self._cache: dict[str, list[str]] | None = None

    def find(self, soname: str) -> Copy | None:
        """Return the copy that the loader chooses, with its problem if it has one; None if there is none.

        A copy that the loader skips is returned only if no other one follows.
        """
        skipped = None
        for path, source in self._candidates(soname):
            problem = _elf.problem(self._host, path, self._machine)
            if problem == "unreadable":
                status = self._host.stat(path)
                if status is None:
                    continue
                problem = problem if status.kind == "file" else "not a library"
            copy = Copy(path, source, problem)
            if problem is None or (problem != "unreadable" and not problem.startswith(_elf.WRONG_ARCHITECTURE)):
                return copy
            skipped = skipped or copy
        return skipped

    def copies(self, soname: str, folders: tuple[str, ...]) -> list[str]:
        """Return the paths of all copies on the search path and in more folders; a file with several names is listed once."""
        paths = [path for path, _ in self._candidates(soname)] + [f"{folder}/{soname}" for folder in folders]
        real_paths: dict[str, str] = {}
        for path in dict.fromkeys(paths):
            if self._host.read_bytes(path, size=1) is not None:
                real_paths.setdefault(self._host.real(path), path)
        return list(real_paths.values())

    def folders(self) -> tuple[str, ...]:
        """Return the folders searched before the cache."""
        return tuple(folder for folder, _ in self._folders)

    def cached(self) -> dict[str, list[str]]:
        """Return paths by soname in ld.so.cache, in the loader's order."""
        if self._cache is None:
            data = self._host.read_bytes(_CACHE, size=1 << 24) or b""
            self._cache = _read_cache(data, self._machine)
        return self._cache

    def _candidates(self, soname: str) -> Iterator[tuple[str, str]]:
        for path in self.preloaded:
            if "/" in path and posixpath.basename(self._host.real(path)).startswith(soname):
                yield path, "LD_PRELOAD"
        for folder, source in self._folders:
            yield f"{folder}/{soname}", source
        for path in self.cached().get(soname, ()):
            yield path, "ld.so.cache"
        for folder in _defaults(self._machine):
            yield f"{folder}/{soname}", "default"

    def _ordered(self) -> Iterator[tuple[str, str]]:
        """Yield the folders before the cache: DT_RPATH comes before LD_LIBRARY_PATH, DT_RUNPATH after it."""
        own = [(folder, self.kind) for folder in self.runpath if self._host.names(folder)]
        if self.kind == "RPATH":
            yield from own
        for folder in self.library_path:
            yield folder.rstrip("/") or "/", "LD_LIBRARY_PATH"
        if self.kind == "RUNPATH":
            yield from own


def _expanded(host: Host, entries: tuple[str, ...], caller: str | None) -> tuple[str, ...]:
    """Expand search path entries: ``$ORIGIN`` is the folder of the library that has them."""
    origin = posixpath.dirname(caller or "")
    if host.real(origin) != origin:  # ".." is relative to the target of a link, not to its folder
        origin = host.real(origin)
    unique = dict.fromkeys(entries)
    folders = (entry.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", origin) for entry in unique if entry)
    return tuple(dict.fromkeys(posixpath.normpath(folder) for folder in folders))


def _defaults(machine: str) -> tuple[str, ...]:
    multiarch = f"{machine}-linux-gnu"
    return (f"/lib/{multiarch}", f"/usr/lib/{multiarch}", "/lib64", "/usr/lib64", "/lib", "/usr/lib")


def _read_cache(data: bytes, machine: str) -> dict[str, list[str]]:
    """Return paths by soname from ld.so.cache, in the loader's order; empty if the format is unknown.

    Format (dl-cache.h): a header of 48 bytes, then entries of flags, key, value, OS version and hardware capabilities;
    keys and values are string offsets from the header's start. Older versions of ldconfig write an older table before it.
    """
    start, expected_flags = data.find(_CACHE_MAGIC), _CACHE_FLAGS.get(machine)
    if start < 0 or expected_flags is None:
        return {}
    data = data[start:]
    cached: dict[str, list[str]] = {}
    try:
        (count,) = struct.unpack_from("<I", data, len(_CACHE_MAGIC))
        for flags, key, value, _, _ in struct.iter_unpack("<IIIIQ", data[48 : 48 + 24 * count]):
            if flags == expected_flags and data.startswith(b"lib", key):
                cached.setdefault(_string(data, key), []).append(_string(data, value))
    except (struct.error, ValueError):
        return {}
    return cached


def _string(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode("utf-8", "replace")
