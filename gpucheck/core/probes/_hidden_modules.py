"""User files that shadow TensorFlow, Keras or a module that they import, found without importing anything."""

import posixpath
import re
from collections.abc import Iterable, Iterator

from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.host import Host
from gpucheck.core.probes._distributions import FLAVOURS, Installed

INSTALLED = ("site-packages", "dist-packages")
# Distribution -> module, if it is not its name with "_".
_MODULES = {"absl-py": "absl", "protobuf": "google", "google-pasta": "pasta", "grpcio": "grpc"}

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
_BEGINNING = 64  # bytes by which a copy of a module is known


def hidden(host: Host, interpreter: Interpreter, distributions: dict[str, Installed], names: Iterable[str]) -> dict[str, str]:
    """Module -> the file or folder that shadows it.

    Args:
        host: the machine.
        interpreter: the examined one.
        distributions: those installed for it.
        names: of distributions; those that are not installed are ignored.
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
    return _MODULES.get(name, "tensorflow" if name in FLAVOURS else name.replace("-", "_"))


def _before(host: Host, interpreter: Interpreter, homes: set[str]) -> Iterator[str]:
    """The folders that Python searches before site-packages."""
    folders = list(interpreter.path)
    if host.request.python is None:  # gpucheck's own sys.path lacks the current folder, which a user's program has
        folders.insert(0, host.real("."))
    for folder in folders:
        if folder in homes:
            return
        if posixpath.basename(folder) not in INSTALLED and folder != interpreter.stdlib and _is_ours(host, folder):
            yield folder


def _is_ours(host: Host, folder: str) -> bool:
    """Whether others can't write to the folder: a child excludes such a current folder from its path."""
    status = host.stat(folder) if folder == host.real(".") else None
    return status is None or not status.mode & 0o022


def _hides(host: Host, folder: str, module: str, home: str) -> str | None:
    """The file or folder, unless it is a copy of the package, such as a checkout of its source."""
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
