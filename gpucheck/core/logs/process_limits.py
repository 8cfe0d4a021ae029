"""Process limits that a log or a signal names: the name of each, and the summary."""

import msgspec

from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Severity


class ReachedLimit(msgspec.Struct, frozen=True):
    """A limit that was reached."""

    summary: str
    limit: str
    severity: Severity | None = None  # None: the rule's own


def _reached(what: str, effect: str, limit: str) -> ReachedLimit:
    return ReachedLimit(f"The limit on {what} was reached: the system {effect}.", limit)


REACHED = {
    Kind.THREAD_LIMIT: _reached("threads or processes", "refused to start another thread", "threads"),
    Kind.OPEN_FILES_LIMIT: _reached("open files", "refused to open another one", "open files"),
    Kind.CPU_TIME_LIMIT: _reached("processor time", "ended the process", "processor time"),
    Kind.FILE_SIZE_LIMIT: _reached("the size of a file", "refused to write more", "file size"),
    Kind.LOCKED_MEMORY_LIMIT: ReachedLimit(
        "The limit on locked memory is too low for transfers between GPUs and the network.",
        "locked memory",
        Severity.WARNING,
    ),
}
