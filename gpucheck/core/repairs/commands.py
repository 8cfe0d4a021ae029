"""Shell commands for fixes, for a POSIX shell."""

from collections.abc import Iterable

from gpucheck.core.model import Assignment, Operation
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.system.shells import statement, word

_NEW_ENVIRONMENT = "~/tensorflow-env"


def pip(interpreter: Interpreter, *packages: str) -> str:
    """Return the command that installs into this interpreter.

    The command installs pip if it is missing, and creates a virtual environment if the interpreter forbids pip (PEP 668).
    """
    install = " ".join(("-m pip install", *map(word, packages)))
    python = word(interpreter.executable)
    if interpreter.externally_managed:
        return f"{python} -m venv {_NEW_ENVIRONMENT} && {_NEW_ENVIRONMENT}/bin/python {install}"
    if interpreter.pip_version is None:
        return f"{python} -m ensurepip --upgrade && {python} {install}"
    return f"{python} {install}"


def search_first(folders: Iterable[str], reason: str = "") -> Assignment:
    """Make the loader search these folders first, in processes that start afterwards."""
    return Assignment(variable="LD_LIBRARY_PATH", operation=Operation.PREPEND, value=":".join(folders), reason=reason)


def without(variable: str, folder: str) -> str:
    """Return the command that removes a folder from a search path whose value is unknown."""
    chosen = f"grep -vxF -e {word(folder)} -e {word(folder + '/')}"
    return f'export {variable}="$(echo "${variable}" | tr : \'\\n\' | {chosen} | paste -sd : -)"'


def without_folders(path: str, *, word: str, folder: str) -> str:
    """Return the command that removes a folder, and those with the word in their name, from LD_LIBRARY_PATH; "" if it has none.

    Args:
        path: the current value.
        word: "stubs".
        folder: "/usr/local/cuda/compat".
    """
    folders = [one for one in path.split(":") if one]
    kept = [one for one in folders if word not in one and one.rstrip("/") != folder]
    return set_path("LD_LIBRARY_PATH", kept) if len(kept) < len(folders) else ""


def set_path(variable: str, folders: Iterable[str]) -> str:
    """Return the command that sets a variable to exactly these folders."""
    return statement(search_only(variable, folders, ""))


def search_only(variable: str, folders: Iterable[str], reason: str) -> Assignment:
    """Set a variable to exactly these folders; unset it if there are none."""
    value = ":".join(folders)
    return Assignment(variable=variable, operation=Operation.SET if value else Operation.UNSET, value=value, reason=reason)
