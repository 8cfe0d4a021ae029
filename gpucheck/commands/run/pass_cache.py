"""Cache passed checks, so that a gate before many short jobs does not check each time.

A pass is a small file in the user's cache folder. Its name is a digest of everything that can change the result: the boot, the
driver, the devices, the interpreter and its packages, the environment, the request. Files that other users may have written are
ignored, and so are unreadable files.
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
from gpucheck.core.system.read import INVALID_JSON, read
from gpucheck.core.system.write import replace

_FORMAT = 1
_SIZE_MAX_BYTES = 64 << 10
_OLD_SECONDS = 30 * 86400.0  # unused files are removed after this time
_OTHER_VARIABLES = ("PATH", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE")
_KERNEL_FILES = ("/proc/sys/kernel/random/boot_id", "/proc/driver/nvidia/version", "/sys/module/nvidia/version")
_OF_ONE_JOB = ("SLURM_JOB_ID",)  # a value that changes nothing else
_MODULES = ("tensorflow", "keras", "nvidia")

Changes = list[tuple[str, str | None]]  # variables to set, or (None) to unset


class _Pass(msgspec.Struct):
    """The content of a cached pass."""

    format: int
    at: float  # time of ``_now``
    changes: Changes


def key(request: Request, env: Mapping[str, str], interpreter: Mapping[str, Any], *more: str) -> str:
    """Return a digest of everything that a pass depends on.

    Args:
        request: the request of the check.
        env: the environment of the check.
        interpreter: the description of the examined interpreter (``Host.interpreter``).
        more: other options, and the limits of this process.
    """
    digest = hashlib.sha256()
    for part in _parts(request, env, interpreter, more):
        digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:40]


def recall(name: str, seconds: float, env: Mapping[str, str]) -> Changes | None:
    """Return the environment changes of a check that passed within the last ``seconds``; None if there is none."""
    folder = _folder(env)
    with contextlib.suppress(OSError, *INVALID_JSON):
        path = f"{folder}/passed-{name}"
        if folder is None or why_untrusted(path) is not None:
            return None
        passed = msgspec.json.decode(read(path, _SIZE_MAX_BYTES), type=_Pass)
        if passed.format == _FORMAT and 0 <= _now() - passed.at <= seconds and all(map(_is_valid, passed.changes)):
            return passed.changes
    return None


def remember(name: str, env: Mapping[str, str], changes: Changes) -> None:
    """Store a pass with the current time. If that fails, the next run checks again."""
    folder = _folder(env)
    if folder is None:
        return
    with contextlib.suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if why_untrusted(folder) is not None:
            return
        replace(f"{folder}/passed-{name}", msgspec.json.encode(_Pass(_FORMAT, _now(), changes)), mode=0o600)
        _remove_old(folder)


def _is_valid(change: tuple[str, str | None]) -> bool:
    """Whether the name and value of a variable are valid."""
    name, value = change
    return bool(name) and "=" not in name and "\0" not in f"{name}{value}"


def _parts(request: Request, env: Mapping[str, str], interpreter: Mapping[str, Any], more: Iterable[str]) -> Iterator[str]:
    yield f"{_FORMAT} {__version__} {sys.executable}"
    yield msgspec.json.encode(request).decode()
    yield from more
    for path in _KERNEL_FILES:
        yield _text(path)
    yield _stamp("/")  # differs between containers on the same host
    yield " ".join(_names("/dev", "nvidia") + _names("/proc/driver/nvidia/gpus", ""))
    yield str(os.geteuid()) if hasattr(os, "geteuid") else ""
    yield json.dumps({name: interpreter.get(name) for name in ("executable", "version", "prefix", "path")}, default=str)
    yield _stamp(str(interpreter.get("executable")))
    for folder in interpreter.get("path") or ():
        kinds = (".dist-info", ".egg-info", ".pth")
        yield from (f"{path} {_stamp(path)}" for name in _names(folder, "", kinds) for path in [f"{folder}/{name}"])
        yield from (_stamp(f"{folder}/{name}") for name in _MODULES)
        yield " ".join(_names(folder, "", (".py",)))  # a new file may shadow a package
    for name in sorted(env):
        if (name in KNOWN and name not in _OF_ONE_JOB) or name in _OTHER_VARIABLES or name.startswith(PREFIXES):
            yield f"{name}={env[name]}"


def _folder(env: Mapping[str, str]) -> str | None:
    named = env.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # relative paths must be ignored (XDG Base Directory Specification)
        return f"{named}/gpucheck"
    if sys.platform == "win32":
        data = env.get("LOCALAPPDATA")
        return f"{data}/gpucheck/cache" if data else None
    home = env.get("HOME", "")
    if not os.path.isabs(home):
        return None
    return f"{home}/Library/Caches/gpucheck" if sys.platform == "darwin" else f"{home}/.cache/gpucheck"


def _now() -> float:
    """Return seconds since boot, which can't be set, if the system has that clock; the key contains the boot."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.time() if clock is None else time.clock_gettime(clock)


def _remove_old(folder: str) -> None:
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
    """Return text that changes when a file is replaced, or a folder's entries change."""
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
