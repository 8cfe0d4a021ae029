"""Commands that a fix gives, for a POSIX shell."""

import re
from collections.abc import Iterable

from gpucheck.probes.interpreter import Interpreter

_NEW_ENVIRONMENT = "~/tensorflow-env"
_PLAIN_WORD = re.compile(r"[\w@%+=:,./~-]+")


def word(text: str) -> str:
    """One word for a POSIX shell, quoted where it has to be; a leading ~ is meant to be expanded."""
    return text if _PLAIN_WORD.fullmatch(text) else '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'


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
    return f'export LD_LIBRARY_PATH="{":".join(folders)}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'


def set_path(variable: str, folders: Iterable[str]) -> str:
    """The command that makes a variable hold these folders and no others."""
    value = ":".join(folders)
    return f'export {variable}="{value}"' if value else f"unset {variable}"
