"""Text for users to run: words, and assignments of environment variables, in the syntax of each shell or file format."""

import enum
import re
from collections.abc import Callable, Iterable, Mapping

import msgspec

_PLAIN_WORD = r"(?a)(?:~/)?[\w@%+:,./-][\w@%+=:,./-]*"  # a leading ~ should be expanded; zsh expands =program
_PLAIN_IN_QUOTES = r'[^\\"$`!\x00-\x1f\x7f]*'  # an interactive shell also expands !


class Operation(str, enum.Enum):
    """The change of a variable; ``prepend`` puts the value before the current one."""

    SET = "set"
    PREPEND = "prepend"
    UNSET = "unset"


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One variable to change before a program starts."""

    variable: str
    operation: Operation
    value: str = ""  # unused for ``unset``
    reason: str  # one printable line, used as a comment in scripts
    apply: bool = True  # False: a suggestion that only the user can judge

    @property
    def separator(self) -> str:
        """The separator between the value and the current one."""
        return " " if self.variable == "XLA_FLAGS" else ":"  # the others are lists of folders


def word(text: str) -> str:
    """Return the text as one word for sh, bash, dash, zsh and fish, quoted if necessary."""
    if re.fullmatch(_PLAIN_WORD, text):
        return text
    if re.fullmatch(_PLAIN_IN_QUOTES, text):
        return f'"{text}"'
    # Single quotes can't contain a quote, and in fish a backslash is special there: both are written outside the quotes.
    return "'" + re.sub(r"(['\\])", r"'\\\1'", text) + "'"


def statement(assignment: Assignment) -> str:
    """Return the line that makes an assignment in a POSIX shell."""
    name, value = assignment.variable, assignment.value
    if assignment.operation is Operation.UNSET:
        return f"unset {name}"
    if assignment.operation is Operation.SET:
        return f"export {name}={word(value)}"
    rest = f"${{{name}:+{assignment.separator}${name}}}"
    if re.fullmatch(_PLAIN_IN_QUOTES, value):
        return f'export {name}="{value}{rest}"'
    return f'export {name}={word(value)}"{rest}"'


def applied(assignments: Iterable[Assignment], env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with the assignments applied."""
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


def dotenv(assignments: tuple[Assignment, ...], env: Mapping[str, str]) -> str:
    """Write a .env file. It can't refer to a variable's value or unset one, so values are written in full."""
    parts, done = [], dict(env)
    for assignment in assignments:
        done = applied([assignment], done)
        name, value = assignment.variable, done.get(assignment.variable)
        if not assignment.apply or value is None:
            parts.append(f"# {_reason(assignment)}\n# (not possible in a .env file) unset {name}\n")
        else:
            parts.append(f"# {_reason(assignment)}\n{name}={_dotenv_value(value)}\n")
    return "".join(parts)


Render = Callable[[tuple[Assignment, ...], Mapping[str, str]], str]
SHELLS: dict[str, Render] = {
    # sh, bash, dash, ksh, zsh: eval "$(gpucheck env)". The comment is on the same line: eval without quotes joins the lines, and
    # the first assignment must still work.
    "sh": lambda assignments, env: _lines(assignments, statement, trailing=True),
    "fish": lambda assignments, env: _lines(assignments, _fish),  # gpucheck env --shell fish | source
    # gpucheck env --shell powershell | Out-String | Invoke-Expression
    "powershell": lambda assignments, env: _lines(assignments, _powershell),
    "dotenv": dotenv,
    "docker": lambda assignments, env: _lines(assignments, _docker),  # a Dockerfile can't unset a variable
}


def _reason(assignment: Assignment) -> str:
    """Return the reason on one line: text after a line end would no longer be a comment, and a path may contain one."""
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
    # fish joins variables named *PATH with colons and others with spaces; an empty entry would be kept.
    return f'if test -n "${name}"; {make} ${name}; else; {make}; end'


def _powershell(assignment: Assignment) -> str:
    name = assignment.variable
    if assignment.operation is Operation.UNSET:
        return f"Remove-Item Env:{name} -ErrorAction SilentlyContinue"
    value = re.sub("(['‘’‚‛])", r"\1\1", assignment.value)  # PowerShell accepts typographic quotes as quotes
    prepend = assignment.operation is Operation.PREPEND
    rest = f" + $(if ($env:{name}) {{ '{assignment.separator}' + $env:{name} }})" if prepend else ""
    return f"$env:{name} = '{value}'{rest}"


def _docker(assignment: Assignment) -> str:
    name = assignment.variable
    if assignment.operation is Operation.UNSET:
        return f"# (not possible in a Dockerfile) unset {name}"
    value = re.sub(r'([\\"$])', r"\\\1", assignment.value)
    rest = f"${{{name}:+{assignment.separator}${name}}}" if assignment.operation is Operation.PREPEND else ""
    return f'ENV {name}="{value}{rest}"'


def _dotenv_value(value: str) -> str:
    """Return the value without quotes if possible: ``docker run --env-file`` treats quotes as part of the value."""
    if re.fullmatch(_PLAIN_WORD, value) and not value.startswith("~"):
        return value
    if "'" not in value and "\\" not in value:
        return f"'{value}'"
    return '"' + re.sub(r'([\\"$`])', r"\\\1", value) + '"'
