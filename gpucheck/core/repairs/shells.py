"""Everything that is printed to be typed: words and assignments in the syntax of each shell or file format."""

import re
from collections.abc import Callable, Iterable, Mapping

from gpucheck.core.model import Assignment, Operation

_PLAIN_WORD = re.compile(
    r"(?:~/)?[\w@%+:,./-][\w@%+=:,./-]*", re.ASCII
)  # a leading ~ is meant to be expanded; zsh looks for =program
_PLAIN_IN_QUOTES = re.compile(r'[^\\"$`!\x00-\x1f\x7f]*')  # a shell that is typed into expands ! there, too


def word(text: str) -> str:
    """One word for sh, bash, dash, zsh and fish alike, quoted where it has to be."""
    if _PLAIN_WORD.fullmatch(text):
        return text
    if _PLAIN_IN_QUOTES.fullmatch(text):
        return f'"{text}"'
    # A quote can't stand between single quotes, and a backslash means something there to fish: both stand outside.
    return "'" + re.sub(r"(['\\])", r"'\\\1'", text) + "'"


def statement(assignment: Assignment) -> str:
    """The line that makes an assignment in a POSIX shell."""
    name, value = assignment.variable, assignment.value
    if assignment.operation is Operation.UNSET:
        return f"unset {name}"
    if assignment.operation is Operation.SET:
        return f"export {name}={word(value)}"
    rest = f"${{{name}:+{assignment.separator}${name}}}"
    if _PLAIN_IN_QUOTES.fullmatch(value):
        return f'export {name}="{value}{rest}"'
    return f'export {name}={word(value)}"{rest}"'


def applied(assignments: Iterable[Assignment], env: Mapping[str, str]) -> dict[str, str]:
    """The environment with the assignments made."""
    changed = dict(env)
    for assignment in assignments:
        name = assignment.variable
        if not assignment.apply:
            continue
        if assignment.operation is Operation.UNSET:
            changed.pop(name, None)
        elif assignment.operation is Operation.PREPEND and changed.get(name):
            changed[name] = f"{assignment.value}{assignment.separator}{changed[name]}"
        else:
            changed[name] = assignment.value
    return changed


def sh(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """POSIX sh, bash, dash, ksh, zsh: ``eval "$(gpucheck env)"``.

    The comment follows on the same line: eval without the quotes joins the lines, and the first one still counts.
    """
    return _lines(assignments, statement, trailing=True)


def fish(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """Fish: ``gpucheck env --shell fish | source``."""
    return _lines(assignments, _fish)


def powershell(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """PowerShell: ``gpucheck env --shell powershell | Out-String | Invoke-Expression``."""
    return _lines(assignments, _powershell)


def dotenv(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """A .env file. It can neither refer to what a variable holds nor take one out: values are whole, as they would be here."""
    parts, done = [], dict(env)
    for assignment in assignments:
        done = applied([assignment], done)
        name, value = assignment.variable, done.get(assignment.variable)
        if not assignment.apply or value is None:
            parts.append(f"# {_reason(assignment)}\n# (a .env file can't say it) unset {name}\n")
        else:
            parts.append(f"# {_reason(assignment)}\n{name}={_dotenv_value(value)}\n")
    return "".join(parts)


def docker(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """Instructions of a Dockerfile, which can't take a variable out."""
    return _lines(assignments, _docker)


SHELLS: dict[str, Callable[[tuple[Assignment, ...], Mapping[str, str]], str]] = {
    "sh": sh,
    "fish": fish,
    "powershell": powershell,
    "dotenv": dotenv,
    "docker": docker,
}


def _reason(assignment: Assignment) -> str:
    """Why, on one line: what stood behind a line's end would be no comment any more, and a path may hold one."""
    return " ".join(assignment.reason.split())


def _lines(assignments: tuple[Assignment, ...], render: Callable[[Assignment], str], *, trailing: bool = False) -> str:
    parts = []
    for assignment in assignments:
        line = render(assignment)
        if not assignment.apply:
            suggested = line.removeprefix("# ").replace("\n", "\n# ")
            parts.append(f"# {_reason(assignment)}: {suggested}\n")
        elif trailing:
            parts.append(f"{line}  # {_reason(assignment)}\n")
        else:
            parts.append(f"# {_reason(assignment)}\n{line}\n")
    return "".join(parts)


def _fish(assignment: Assignment) -> str:
    name = assignment.variable
    if assignment.operation is Operation.UNSET:
        return f"set -e {name}"
    value = re.sub(r"([\\'])", r"\\\1", assignment.value)
    make = f"set -gx {name} '{value}'"
    if assignment.operation is Operation.SET:
        return make
    # A name that ends in PATH is a list joined by colons, any other one joined by blanks; an empty entry would count.
    return f'if test -n "${name}"; {make} ${name}; else; {make}; end'


def _powershell(assignment: Assignment) -> str:
    name = assignment.variable
    if assignment.operation is Operation.UNSET:
        return f"Remove-Item Env:{name} -ErrorAction SilentlyContinue"
    value = re.sub("(['‘’‚‛])", r"\1\1", assignment.value)  # it takes typographic quotes for quotes
    prepend = assignment.operation is Operation.PREPEND
    rest = f" + $(if ($env:{name}) {{ '{assignment.separator}' + $env:{name} }})" if prepend else ""
    return f"$env:{name} = '{value}'{rest}"


def _docker(assignment: Assignment) -> str:
    name = assignment.variable
    if assignment.operation is Operation.UNSET:
        return f"# (a Dockerfile can't say it) unset {name}"
    value = re.sub(r'([\\"$])', r"\\\1", assignment.value)
    rest = f"${{{name}:+{assignment.separator}${name}}}" if assignment.operation is Operation.PREPEND else ""
    return f'ENV {name}="{value}{rest}"'


def _dotenv_value(value: str) -> str:
    """Bare where possible, because ``docker run --env-file`` takes quotes for part of the value."""
    if _PLAIN_WORD.fullmatch(value) and not value.startswith("~"):
        return value
    if "'" not in value and "\\" not in value:
        return f"'{value}'"
    return '"' + re.sub(r'([\\"$`])', r"\\\1", value) + '"'
