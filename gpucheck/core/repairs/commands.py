"""Commands that a fix gives, for a POSIX shell."""

from collections.abc import Iterable

from gpucheck.core.model import Assignment, Operation
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.repairs.shells import statement, word

_NEW_ENVIRONMENT = "~/tensorflow-env"


def pip(interpreter: Interpreter | None, *packages: str) -> str:
    """The command that installs into this interpreter; into whichever is first on PATH where only a log is known.

    pip is fetched where it is absent, and where it must not be used (PEP 668) a new virtual environment takes its place.
    """
    install = " ".join(("-m pip install", *map(word, packages)))
    if interpreter is None:
        return f"python {install}"
    python = word(interpreter.executable)
    if interpreter.externally_managed:
        return f"{python} -m venv {_NEW_ENVIRONMENT} && {_NEW_ENVIRONMENT}/bin/python {install}"
    if interpreter.pip_version is None:
        return f"{python} -m ensurepip --upgrade && {python} {install}"
    return f"{python} {install}"


def library_path(*folders: str) -> str:
    """The command that lets the loader look into these folders first. It counts for processes started afterwards."""
    return statement(look_first(folders, ""))


def look_first(folders: Iterable[str], reason: str) -> Assignment:
    """Let the loader look into these folders first."""
    return Assignment(variable="LD_LIBRARY_PATH", operation=Operation.PREPEND, value=":".join(folders), reason=reason)


def set_path(variable: str, folders: Iterable[str]) -> str:
    """The command that makes a variable hold these folders and no others."""
    value = ":".join(folders)
    operation = Operation.SET if value else Operation.UNSET
    return statement(Assignment(variable=variable, operation=operation, value=value, reason=""))
