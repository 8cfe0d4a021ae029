"""Choose from a diagnosis's repairs those that can work on this machine, for a live answer and a logged one."""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from gpucheck.core.model import Fix, repairs_first
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.effects import described

_EXPORT = r"export (\w+)=(\S+)"
_UNSET = r"unset (\w+)"
_FOR_ONE = r"(\w+=\S*) (\S.*)"  # a variable for one command
_POSIX = (
    r"\bexport |\bunset |/bin/|~/|\$\(|\$\{|\bgrep\b|\bldconfig\b|\bls |\brm |\bmv |\bmkdir |\bdf |\bLD_LIBRARY_PATH|/dev/|/proc/"
)
_ELSEWHERE = r"\bhost\b|machine that runs|that machine"
# A command in a shell -> in a notebook's cell; None: it affects only the shell that runs it.
_IN_CELLS = (
    (_EXPORT, r"%env \1=\2"),
    (_UNSET, r'import os; os.environ.pop("\1", None)'),
    (r"(?:export|ulimit) .*", None),
    (r"[^%].*", r"!\g<0>"),
)
# The same -> at a prompt of Windows; None: it needs what Linux has.
_ON_WINDOWS = (
    (_EXPORT, r"set \1=\2"),
    (_UNSET, r"set \1="),
    (rf".*(?:{_POSIX}).*", None),
    (_FOR_ONE, r'set "\1" && \2'),
)


def choose(fixes: Iterable[Fix], context: Context) -> tuple[Fix, ...]:
    """Return the fixes that can be applied there: repairs before commands that only show more, each once.

    Args:
        fixes: of the diagnosis, best first.
        context: the machine that they are for.
    """
    chosen = dict.fromkeys(fix for candidate in fixes if (fix := _adapted(candidate, context)) is not None)
    new = [fix for fix in chosen if fix.command is None or _words(fix.command) not in {_words(line) for line in context.tried}]
    return repairs_first(described(fix, context.installed) for fix in new or chosen)


def _adapted(fix: Fix, context: Context) -> Fix | None:
    if "sudo" in fix.needs:
        if context.windows or context.notebook:
            return None  # a command for Linux, and for an administrator
        if context.in_container and fix.command is not None and not re.search(_ELSEWHERE, fix.text):
            return fix.after("On the host:")
        if context.scheduler and fix.command is not None:
            return fix.after("As the cluster's administrator:")
    if context.notebook:
        return _translated(fix, _IN_CELLS)
    return _translated(fix, _ON_WINDOWS) if context.windows else fix


def _translated(fix: Fix, forms: Iterable[tuple[str, str | None]]) -> Fix | None:
    """Return the fix with its command in the first form that matches; None if it is impossible there."""
    for form, translation in forms:
        if fix.command is not None and (match := re.fullmatch(form, fix.command)):
            return None if translation is None else replace(fix, command=match.expand(translation))
    return fix


def _words(command: str) -> tuple[str, ...]:
    """The words of a command that decide what it does."""
    command = re.sub(r"\bpython3?(?:\.\d+)? -m pip\b|%pip\b|\bpip3\b", "pip", command.removeprefix("sudo "))
    return tuple(word.strip("\"'") for word in command.split() if word not in ("-q", "--upgrade", "-U", "--quiet"))
