"""The closed sets of words that a report uses: levels, severities, statuses, verdicts, exit codes."""

import enum


class Level(enum.IntEnum):
    """How deep a run looks; each level contains those below it."""

    NODE = -1  # the hardware and the host alone, of no Python environment
    QUICK = 0
    DEFAULT = 1
    FULL = 2


class Severity(str, enum.Enum):
    """Error: this machine cannot train as asked, or its results can't be trusted. Warning: it trains, but fragilely."""

    ERROR = "error"
    WARNING = "warning"


class Scope(str, enum.Enum):
    """Who has to act. The order is the order of blame: what is broken below breaks what stands on it."""

    HARDWARE = "hardware"
    HOST = "host"
    ENVIRONMENT = "environment"
    CODE = "code"


class Status(str, enum.Enum):
    """What became of a rule. ``skipped`` means *could not look* and is never counted as healthy."""

    FOUND = "found"
    CLEAR = "clear"
    SKIPPED = "skipped"
    CRASHED = "crashed"


class ProbeStatus(str, enum.Enum):
    """What became of a probe; ``skipped`` is a probe that this run was not asked for."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    SKIPPED = "skipped"


class Verdict(str, enum.Enum):
    """The answer of a run; ``unknown`` is "could not look", with the reason in ``Report.unknown_because``."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


class ExitCode(enum.IntEnum):
    """Exit status of ``gpucheck check``."""

    HEALTHY = 0
    FAULT = 1
    USAGE = 2
    UNKNOWN = 3
