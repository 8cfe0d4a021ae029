"""Causes inferred from a log's events: each has the code of a rule, whose page has the fix, and the lines that show it.

A cause that a single line identifies is a row of a table. A cause inferred from several lines is a function named after its
code. If there are several causes, the rules select the root cause.
"""

import re
from collections.abc import Collection
from types import ModuleType

import msgspec

from gpucheck.core.compat import removed
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
from gpucheck.core.logs.causes.startup import infer_startup_failure
from gpucheck.core.logs.events import Event
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Severity
from gpucheck.core.model.wording import short

ROWS = (*machine_table.ROWS, *program_table.ROWS)
_FULL_STOPS = re.compile(r"\.{2,}$")
_ELLIPSIS = 3
_CITED = 4  # maximum events of a cause
_MISSING = re.compile(r"(?:ModuleNotFound|Import)Error: No module named|^No module named")
_CRASH, _FAILED = "training-crashed", "training-failed"
MODULES = (devices, driver, generations, health, imports, libraries, memory, packages, training)
_SIGNATURE = {"events": Events, "return": Cause | None}


def _inferred(module: ModuleType) -> dict[str, Judge]:
    """Return the public functions of a module that infer causes, by code: ``cuda_init_failed`` for "cuda-init-failed"."""
    judges = {name: value for name, value in vars(module).items() if getattr(value, "__annotations__", None) == _SIGNATURE}
    return {name.replace("_", "-"): judge for name, judge in judges.items() if not name.startswith("_")}


INFERRED = {code: judge for module in MODULES for code, judge in _inferred(module).items()}
CODES = frozenset({*(row.code for row in ROWS), *INFERRED})  # of all causes that can be found in logs
_JUDGES: dict[str, list[Judge]] = {
    code: [*(row for row in ROWS if row.code == code), *([INFERRED[code]] if code in INFERRED else [])] for code in CODES
}


def judge(log: Log, warnings: Collection[str] = ()) -> dict[str, Cause]:
    """Return the causes found in a log, by code.

    Args:
        log: the log.
        warnings: codes of rules of severity warning. Their causes do not end a program, unless a cause has its own severity.
    """
    events = Events(_without_refuted(log))
    causes = {code: cause for code in sorted(CODES - {_CRASH}) if (cause := _cause(code, events)) is not None}
    if all(cause.intended for cause in causes.values()) and (crash := _cause(_CRASH, events)):  # no other cause explains it
        causes = {_CRASH: crash}
    if all(
        cause.own_severity is Severity.WARNING or (cause.own_severity is None and code in warnings)
        for code, cause in causes.items()
    ) and (last := _last_resort(events)):
        causes = {code: cause for code, cause in causes.items() if not cause.intended} | {_FAILED: last}
    failure = events.infer(infer_startup_failure)
    if failure is not None and failure.code in causes and not causes.keys().isdisjoint(removed.PAGES):
        causes[failure.code] = causes[failure.code].weakened()  # not what ended the program
    if failure is not None and failure.code in causes and events.unresolved("program-error", mild="", last=""):
        del causes[failure.code]  # the program ended while it trained, on the CPU as well as on a GPU
    return {code: _bounded(cause) for code, cause in causes.items()}


def _without_refuted(log: Log) -> Log:
    """Return the log without lines that another line refutes.

    A removed API explains the exception that names it, so neither a driver nor a package does. After any failure of its CUDA
    plugin, JAX reports a jaxlib without CUDA.
    """
    lines = {event.line for event in log.events if event.kind == "legacy-api"}
    if any(event.kind == "jax-cuda-plugin" and "cuda" in event.fields for event in log.events):
        lines |= {event.line for event in log.events if event.kind == "cpu-build" and event.fields.get("package") == "jaxlib"}
    kept = tuple(event for event in log.events if event.kind == "legacy-api" or event.line not in lines)
    return msgspec.structs.replace(log, events=kept)


def _cause(code: str, events: Events) -> Cause | None:
    causes = [cause for judge in _JUDGES[code] if (cause := judge(events)) is not None]
    if not causes:
        return None
    # errors first, then in the order of lines
    return min(causes, key=lambda cause: (cause.own_severity is Severity.WARNING, cause.events[0].line))


def _bounded(cause: Cause) -> Cause:
    """Return the cause with one event per line, only for the first few lines, and with a single full stop."""
    lines: dict[int, Event] = {}
    for event in cause.events:
        lines.setdefault(event.line, event)
    summary = _FULL_STOPS.sub(lambda stops: "..." if len(stops[0]) > _ELLIPSIS else ".", cause.summary)
    return cause._replace(summary=summary, events=tuple(lines.values())[:_CITED])


def _last_resort(events: Events) -> Cause | None:
    """Return the cause that an exception's own message gives, if nothing else explains it: a missing module, or advice."""
    missing = [event for event in events.unresolved("module-missing") if _MISSING.search(event.text)]
    if missing:
        module = missing[-1].fields["module"]
        return Cause(f"The Python module {module} is not installed for the Python that ran this.", missing[-1:])
    advice, raised = events.unresolved("advice"), events.of("traceback")
    general = events.unresolved("program-error", last="yes")
    if general and not (general[-1].fields.get("warns") and any(event.line > general[-1].line for event in raised)):
        return Cause(f"The program failed: {short(general[-1].text)}.", general[-1:])
    if misfits := events.unresolved("misfit"):
        lacks = "A function lacks an argument" if "function" in misfits[-1].fields else "A package lacks a name"
        why = "so the installed releases are incompatible with each other or with the program"
        summary = f"{lacks} that its caller uses, {why}: {short(misfits[-1].text)}."
        return Cause(summary, misfits[-1:], repair_values={"misfit": "yes"})
    if not advice or any(event.line > advice[-1].line for event in raised):  # an exception that a later one followed was caught
        return None
    summary = f"An exception ended the program, and its message suggests a fix: {short(advice[-1].text)}."
    return Cause(summary, advice[-1:], repair_values={"quoted": "yes"})
