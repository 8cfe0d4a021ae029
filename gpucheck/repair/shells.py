"""One renderer per shell or file format: assignments as text, each with its reason as a comment."""

import re
from collections.abc import Callable, Mapping

from gpucheck.repair.plan import Assignment, applied

_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def sh(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """POSIX sh, bash, dash, ksh, zsh: ``eval "$(gpucheck env)"``.

    The comment follows on the same line: eval without the quotes joins the lines, and the first one still counts.
    """
    return _lines(assignments, _sh, "#", trailing=True)


def fish(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """Fish: ``gpucheck env --shell fish | source``."""
    return _lines(assignments, _fish, "#")


def powershell(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """PowerShell: ``gpucheck env --shell powershell | Out-String | Invoke-Expression``."""
    return _lines(assignments, _powershell, "#")


def dotenv(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """A .env file. It can neither refer to what a variable holds nor take one out: values are whole, as they would be here."""
    parts, done = [], dict(env)
    for one in assignments:
        done = applied([one], done)
        value = done.get(one.name)
        if not one.apply or value is None:
            parts.append(f"# {one.reason}\n# (a .env file can't say it) unset {one.name}\n")
        else:
            parts.append(f"# {one.reason}\n{one.name}={_dotenv_value(value)}\n")
    return "".join(parts)


def docker(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """Instructions of a Dockerfile, which can't take a variable out."""
    return _lines(assignments, _docker, "#")


SHELLS: dict[str, Callable[[tuple[Assignment, ...], Mapping[str, str]], str]] = {
    "sh": sh,
    "fish": fish,
    "powershell": powershell,
    "dotenv": dotenv,
    "docker": docker,
}


def quoted(text: str) -> str:
    """One word for a POSIX shell."""
    return text if _PLAIN_WORD.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"


def _lines(
    assignments: tuple[Assignment, ...], statement: Callable[[Assignment], str], mark: str, *, trailing: bool = False
) -> str:
    parts = []
    for one in assignments:
        line = statement(one)
        if not one.apply:
            parts.append(f"{mark} {one.reason}: {line.removeprefix('# ')}\n")
        elif trailing:
            parts.append(f"{line}  {mark} {one.reason}\n")
        else:
            parts.append(f"{mark} {one.reason}\n{line}\n")
    return "".join(parts)


def _sh(one: Assignment) -> str:
    if one.value is None:
        return f"unset {one.name}"
    rest = f'"${{{one.name}:+{one.separator}${one.name}}}"' if one.prepend else ""
    return f"export {one.name}={quoted(one.value)}{rest}"


def _fish(one: Assignment) -> str:
    if one.value is None:
        return f"set -e {one.name}"
    value = re.sub(r"([\\'])", r"\\\1", one.value)
    # A name that ends in PATH is a list joined by colons, any other one joined by blanks.
    return f"set -gx {one.name} '{value}'" + (f" ${one.name}" if one.prepend else "")


def _powershell(one: Assignment) -> str:
    if one.value is None:
        return f"Remove-Item Env:{one.name} -ErrorAction SilentlyContinue"
    value = re.sub("(['‘’‚‛])", r"\1\1", one.value)  # it takes typographic quotes for quotes
    rest = f" + $(if ($env:{one.name}) {{ '{one.separator}' + $env:{one.name} }})" if one.prepend else ""
    return f"$env:{one.name} = '{value}'{rest}"


def _docker(one: Assignment) -> str:
    if one.value is None:
        return f"# (a Dockerfile can't say it) unset {one.name}"
    value = re.sub(r'([\\"$])', r"\\\1", one.value)
    rest = f"${{{one.name}:+{one.separator}${one.name}}}" if one.prepend else ""
    return f'ENV {one.name}="{value}{rest}"'


def _dotenv_value(value: str) -> str:
    """Bare where possible, because ``docker run --env-file`` takes quotes for part of the value."""
    if _PLAIN_WORD.fullmatch(value):
        return value
    if "'" not in value and "\\" not in value:
        return f"'{value}'"
    return '"' + re.sub(r'([\\"$`])', r"\\\1", value) + '"'
