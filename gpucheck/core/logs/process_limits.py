"""Process limits that a log or a signal names: the summary for each, and the command that raises it."""

from typing import NamedTuple

from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Severity


class ReachedLimit(NamedTuple):
    """A limit that was reached."""

    summary: str
    command: str
    severity: Severity | None = None  # None: the rule's own


def _reached(what: str, effect: str, command: str) -> ReachedLimit:
    return ReachedLimit(f"The limit on {what} was reached: the system {effect}.", command)


REACHED = {
    Kind.THREAD_LIMIT: _reached("threads or processes", "refused to start another thread", "ulimit -u $(ulimit -H -u)"),
    Kind.OPEN_FILES_LIMIT: _reached("open files", "refused to open another one", "ulimit -n $(ulimit -H -n)"),
    Kind.CPU_TIME_LIMIT: _reached("processor time", "ended the process", "ulimit -t unlimited"),
    Kind.FILE_SIZE_LIMIT: _reached("the size of a file", "refused to write more", "ulimit -f unlimited"),
    Kind.LOCKED_MEMORY_LIMIT: ReachedLimit(
        "The limit on locked memory is too low for transfers between GPUs and the network.",
        "ulimit -l unlimited",
        Severity.WARNING,
    ),
}
