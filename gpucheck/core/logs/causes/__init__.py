"""What the events of a log follow from: causes by the code of the rule whose page says what to do, with the lines they rest on.

A cause that single lines name is a row of a table. What must be inferred from several lines is a function, named by its code.
Which of several causes is the root is said by the rules.
"""

from types import ModuleType

from gpucheck.core.logs.causes import (
    devices,
    driver,
    generations,
    health,
    imports,
    libraries,
    machine_table,
    memory,
    packages,
    program_table,
    training,
)
from gpucheck.core.logs.causes.cause import Cause, Judge
from gpucheck.core.logs.causes.events import Events
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Severity

ROWS = (*machine_table.ROWS, *program_table.ROWS)
_CITED = 4  # events of a cause, at most
_CRASH = "training-crashed"
_MODULES = (devices, driver, generations, health, imports, libraries, memory, packages, training)
_SIGNATURE = {"events": Events, "return": Cause | None}


def _inferred(module: ModuleType) -> dict[str, Judge]:
    """The public functions of a module that judge a cause, by its code: ``cuda_init_failed`` judges "cuda-init-failed"."""
    judges = {name: value for name, value in vars(module).items() if getattr(value, "__annotations__", None) == _SIGNATURE}
    return {name.replace("_", "-"): judge for name, judge in judges.items() if not name.startswith("_")}


_INFERRED = {code: judge for module in _MODULES for code, judge in _inferred(module).items()}
CODES = frozenset({*(row.code for row in ROWS), *_INFERRED})  # of all causes that a log can name


def judge(log: Log) -> dict[str, Cause]:
    """The causes that a log names, by their codes."""
    events = Events(log)
    named = {code: cause for code in sorted(CODES - {_CRASH}) if (cause := _cause(code, events)) is not None}
    if not named and (crash := _cause(_CRASH, events)):  # in a log that names nothing that could explain it
        named[_CRASH] = crash
    return {code: _bounded(cause) for code, cause in named.items()}


def _cause(code: str, events: Events) -> Cause | None:
    judges: list[Judge] = [*(row for row in ROWS if row.code == code), *([_INFERRED[code]] if code in _INFERRED else [])]
    named = [cause for judge in judges if (cause := judge(events)) is not None]
    if not named:
        return None
    # what is an error, and of these what was said first
    return min(named, key=lambda cause: (cause.severity is Severity.WARNING, cause.events[0].line))


def _bounded(cause: Cause) -> Cause:
    """With each line once and the first few of them."""
    lines = list({event.line: event for event in cause.events}.values())
    return cause._replace(events=tuple(lines[:_CITED]))
