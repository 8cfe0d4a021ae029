"""Shell commands for fixes, for a POSIX shell."""

from collections.abc import Iterable

from gpucheck.core.model import Assignment, Operation
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.system.shells import statement, word

_NEW_ENVIRONMENT = "~/tensorflow-env"
INDEX = "--index-url"


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


def uv_pip(*packages: str) -> str:
    """Return the command of uv that installs into an environment; arguments as for pip."""
    options, index, requirements = _parts(packages)
    return " ".join(["uv pip install", *options, *([INDEX, index] if index else []), *requirements])


def uv_add(*packages: str) -> str:
    """Return the command of uv that adds to a project what it requires; arguments as for pip."""
    options, index, requirements = _parts(packages)
    return " ".join(["uv add", *options, *(["--index", index] if index else []), *requirements])


def poetry_add(*packages: str) -> str:
    """Return Poetry's command that adds to a project what it requires; arguments as for pip."""
    _, index, requirements = _parts(packages)
    add = " ".join(["poetry add", *(["--source wheels"] if index else []), *requirements])
    return f"poetry source add --priority=explicit wheels {index} && {add}" if index else add


def _parts(packages: tuple[str, ...]) -> tuple[list[str], str | None, list[str]]:
    """Return uv's names of pip's options, the index if there is one, and the requirements as words."""
    index = packages[packages.index(INDEX) + 1] if INDEX in packages else None
    options = [one.replace("--force-reinstall", "--reinstall") for one in packages if one.startswith("-") and one != INDEX]
    return options, index, [word(one) for one in packages if not one.startswith("-") and one != index]


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
