"""Remembering that a check passed here, so that a gate in front of many short jobs need not look each time.

A pass is a small file in the user's cache folder. Its name is a digest of all that makes another answer likely: the boot, the
driver, the devices, the interpreter and its packages, the environment, what was asked. What others could have written is
not believed, and whatever can't be read counts as nothing.
"""

import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gpucheck import __version__
from gpucheck.core.model import Request
from gpucheck.core.probes.environment import KNOWN, PREFIXES
from gpucheck.core.system.ownership import why_untrusted
from gpucheck.core.system.read import read
from gpucheck.core.system.write import replace

_FORMAT = 1
_SIZE_MAX_BYTES = 64 << 10
_OLD_SECONDS = 30 * 86400.0  # files that nobody asked for again are removed
_ALSO = ("PATH", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE")
_KERNEL_FILES = ("/proc/sys/kernel/random/boot_id", "/proc/driver/nvidia/version", "/sys/module/nvidia/version")
_MODULES = ("tensorflow", "keras", "nvidia")

Changes = list[tuple[str, str | None]]  # variables to set, or (None) to take out


class _Pass(msgspec.Struct):
    """What is stored of a pass."""

    format: int
    at: float  # as ``_now`` counts
    changes: Changes


def key(request: Request, env: Mapping[str, str], interpreter: Mapping[str, Any], *more: str) -> str:
    """A digest of everything under which a pass counts.

    Args:
        request: what is checked.
        env: the environment it is checked in.
        interpreter: the examined interpreter's account of itself (``Host.interpreter``).
        more: anything else that was asked, or that the pass depends on: the limits of this process.
    """
    digest = hashlib.sha256()
    for part in _parts(request, env, interpreter, more):
        digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:40]


def recall(name: str, seconds: float, env: Mapping[str, str]) -> Changes | None:
    """The changes to the environment under which that check passed, if it did within so many seconds; None if not."""
    folder = _folder(env)
    with contextlib.suppress(OSError, ValueError, RecursionError):
        path = f"{folder}/passed-{name}"
        if folder is None or why_untrusted(path) is not None:
            return None
        noted = msgspec.json.decode(read(path, _SIZE_MAX_BYTES), type=_Pass)
        if noted.format == _FORMAT and 0 <= _now() - noted.at <= seconds and all(map(_can_be_set, noted.changes)):
            return noted.changes
    return None


def remember(name: str, env: Mapping[str, str], changes: Changes) -> None:
    """Note a pass as of now. Where it can't be noted, the next check just looks again."""
    folder = _folder(env)
    if folder is None:
        return
    with contextlib.suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        replace(f"{folder}/passed-{name}", msgspec.json.encode(_Pass(_FORMAT, _now(), changes)), mode=0o600)
        _tidy(folder)


def _can_be_set(change: tuple[str, str | None]) -> bool:
    """Whether an environment can hold such a variable."""
    name, value = change
    return bool(name) and "=" not in name and "\0" not in f"{name}{value}"


def _parts(request: Request, env: Mapping[str, str], interpreter: Mapping[str, Any], more: Iterable[str]) -> Iterator[str]:
    yield f"{_FORMAT} {__version__} {sys.executable}"
    yield msgspec.json.encode(request).decode()
    yield from more
    for path in _KERNEL_FILES:
        yield _text(path)
    yield _stamp("/")  # another container of the same host
    yield " ".join(_names("/dev", "nvidia") + _names("/proc/driver/nvidia/gpus", ""))
    yield str(os.geteuid()) if hasattr(os, "geteuid") else ""
    yield json.dumps({name: interpreter.get(name) for name in ("executable", "version", "prefix", "path")}, default=str)
    yield _stamp(str(interpreter.get("executable")))
    for folder in interpreter.get("path") or ():
        kinds = (".dist-info", ".egg-info", ".pth")
        yield from (f"{path} {_stamp(path)}" for name in _names(folder, "", kinds) for path in [f"{folder}/{name}"])
        yield from (_stamp(f"{folder}/{name}") for name in _MODULES)
    for name in sorted(env):
        if name in KNOWN or name in _ALSO or name.startswith(PREFIXES):
            yield f"{name}={env[name]}"


def _folder(env: Mapping[str, str]) -> str | None:
    named = env.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # a relative one is to be ignored (XDG Base Directory Specification)
        return f"{named}/gpucheck"
    if sys.platform == "win32":
        data = env.get("LOCALAPPDATA")
        return f"{data}/gpucheck/cache" if data else None
    home = env.get("HOME", "")
    if not os.path.isabs(home):
        return None
    return f"{home}/Library/Caches/gpucheck" if sys.platform == "darwin" else f"{home}/.cache/gpucheck"


def _now() -> float:
    """Seconds on a clock that nobody sets, where there is one: it starts with the boot, and so does the key."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.time() if clock is None else time.clock_gettime(clock)


def _tidy(folder: str) -> None:
    for name in _names(folder, "passed-"):
        with contextlib.suppress(OSError):
            if time.time() - os.lstat(f"{folder}/{name}").st_mtime > _OLD_SECONDS:
                os.unlink(f"{folder}/{name}")


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(4096).decode("utf-8", "replace")
    except OSError:
        return ""


def _stamp(path: str) -> str:
    """What changes when a file is replaced, or a folder's entries are."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return "-"
    changed = 0 if path == "/" else status.st_mtime_ns
    return f"{status.st_dev} {status.st_ino} {changed}"


def _names(folder: str, start: str, ends: tuple[str, ...] = ("",)) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(start) and name.endswith(ends))
    except (OSError, ValueError):
        return []
