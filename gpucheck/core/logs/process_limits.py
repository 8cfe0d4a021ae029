"""Process limits that a log or a signal names: the name of each, and the summary."""

import msgspec

from gpucheck.core.model import Severity


class ReachedLimit(msgspec.Struct, frozen=True):
    """A limit that was reached."""

    summary: str
    limit: str
    severity: Severity | None = None  # None: the rule's own


def _reached(what: str, effect: str, limit: str) -> ReachedLimit:
    return ReachedLimit(f"The limit on {what} was reached: the system {effect}.", limit)


REACHED = {
    "thread-limit": _reached("threads or processes", "refused to start another thread", "threads"),
    "open-files-limit": _reached("open files", "refused to open another one", "open files"),
    "cpu-time-limit": _reached("processor time", "ended the process", "processor time"),
    "file-size-limit": _reached("the size of a file", "refused to write more", "file size"),
    "locked-memory-limit": ReachedLimit(
        "The limit on locked memory is too low for transfers between GPUs and the network.",
        "locked memory",
        Severity.WARNING,
    ),
}
