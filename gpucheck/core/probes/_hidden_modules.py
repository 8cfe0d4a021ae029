"""User files that shadow TensorFlow, Keras or a package that they import, found without importing anything."""

import posixpath
from collections.abc import Iterable, Iterator

from gpucheck.core.child.messages.interpreter import Interpreter
from gpucheck.core.host import Host
from gpucheck.core.probes._distributions import FLAVOURS, Installed

INSTALLED = ("site-packages", "dist-packages")
# Distribution -> module, if it is not its name with "_".
_MODULES = {"absl-py": "absl", "protobuf": "google", "google-pasta": "pasta", "grpcio": "grpc"}


def hidden(host: Host, interpreter: Interpreter, distributions: dict[str, Installed], names: Iterable[str]) -> dict[str, str]:
    """Module -> the file or folder that shadows it.

    Args:
        host: the machine.
        interpreter: the examined one.
        distributions: those installed for it.
        names: of distributions; those that are not installed are ignored.
    """
    homes = {_module(name): distributions[name].folder for name in names if name in distributions}
    found: dict[str, str] = {}
    for folder in _before(host, interpreter, set(homes.values())):
        for entry in sorted(homes.keys() & {name.removesuffix(".py") for name in host.names(folder)}):
            path = _hides(host, folder, entry, homes[entry])
            if path is not None:
                found.setdefault(entry, path)
    return found


def _module(name: str) -> str:
    return _MODULES.get(name, "tensorflow" if name in FLAVOURS else name.replace("-", "_"))


def _before(host: Host, interpreter: Interpreter, homes: set[str]) -> Iterator[str]:
    """The folders that Python searches before site-packages."""
    folders = list(dict.fromkeys(interpreter.path))
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
        return f"{folder}/{module}" if len(own & installed) * 2 < len(installed) else None
    file = f"{folder}/{module}.py"
    size, other = host.sizes([file, f"{home}/{module}.py"])
    if size is None or (other is not None and size * 2 >= other):
        return None  # a copy of a single-file module
    return file
