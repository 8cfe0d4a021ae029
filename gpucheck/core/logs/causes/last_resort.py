"""What an exception says of itself, for a log in which nothing else explains how the program ended."""

import re

from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events
from gpucheck.core.repairs.wording import short

_MISSING = re.compile(r"(?:ModuleNotFound|Import)Error: No module named|^No module named")


def last_resort(events: Events) -> Cause | None:
    """Return a missing module, or the exception whose message says what to do."""
    missing = [event for event in events.unresolved("module-missing") if _MISSING.search(event.text)]
    if missing:
        module = missing[-1].fields["module"]
        return Cause(f"The Python module {module} is not installed for the Python that ran this.", missing[-1:])
    said, raised = events.unresolved("advice"), events.of("traceback")
    general = events.unresolved("program-error", last="yes")
    if general and not (general[-1].fields.get("warns") and any(event.line > general[-1].line for event in raised)):
        return Cause(f"The program failed: {short(general[-1].text)}.", general[-1:])
    if misfits := events.unresolved("misfit"):
        lacks = "A function does not have an argument" if "function" in misfits[-1].fields else "A package does not have a name"
        summary = (
            f"{lacks} that is used, so the installed releases do not fit each other or the program: {short(misfits[-1].text)}."
        )
        return Cause(summary, misfits[-1:], named={"misfit": "yes"})
    if not said or any(event.line > said[-1].line for event in raised):  # an exception that a later one followed was caught
        return None
    summary = f"An exception ended the program, and its message says what to do: {short(said[-1].text)}."
    return Cause(summary, said[-1:], named={"quoted": "yes"})
