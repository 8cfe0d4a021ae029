"""Open a driver library as any program does, and report why it failed."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from gpucheck.core.child.messages.drivers import LibraryLoaded


def load(names: dict[str, str], symbol: str) -> tuple[Any, LibraryLoaded]:
    """Open this platform's library of ``names`` (keys as sys.platform).

    Args:
        names: library name by platform.
        symbol: a function it must have to be the library it claims to be.

    Returns:
        The library, or None; and the result of loading it.
    """
    name = names.get(sys.platform)
    if name is None:
        return None, LibraryLoaded("library-not-found", problem="NVIDIA makes no driver for " + sys.platform)
    try:
        library = ctypes.CDLL(name)
        getattr(library, symbol)
    except (OSError, AttributeError) as error:
        words = str(error)
        status = "library-not-found" if _absent(name, error) else "library-unusable"
        path = words.partition(":")[0]
        return None, LibraryLoaded(status, path if path.startswith("/") else None, words)
    return library, LibraryLoaded("loaded", mapped(name))


def mapped(name: str) -> str | None:
    """Return the file of a loaded library: this process' mapped file whose name begins with the soname's stem."""
    stem = name.partition(".so")[0] + ".so"
    return next((path for path in mapped_files() if path.rpartition("/")[2].startswith(stem)), None)


def mapped_files() -> list[str]:
    """Return the files mapped into this process, in the order of addresses; empty if the system does not list them."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return [path for line in maps for path in line.rstrip("\n").split(None, 5)[5:]]
    except OSError:
        return []


def _absent(name: str, error: Exception) -> bool:
    """Whether the library was not found, as opposed to found and rejected. Messages of glibc and musl, and Windows' error."""
    words = str(error)
    return (
        isinstance(error, FileNotFoundError)
        or words == name + ": cannot open shared object file: No such file or directory"
        or words.startswith("Error loading shared library " + name + ": No such file")
    )
