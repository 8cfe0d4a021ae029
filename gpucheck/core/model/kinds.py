"""The enumerations of a report: levels, severities, scopes, statuses, verdicts, exit codes."""

import enum


class Level(enum.IntEnum):
    """The depth of a run; each level includes those below it."""

    NODE = -1  # only the hardware and the host, no Python environment
    QUICK = 0
    DEFAULT = 1
    FULL = 2


class Severity(str, enum.Enum):
    """Error: this machine cannot train as asked, or its results can't be trusted. Warning: it trains, but fragilely."""

    ERROR = "error"
    WARNING = "warning"


class Scope(str, enum.Enum):
    """Who has to act. In order of cause: a fault in one breaks those after it."""

    HARDWARE = "hardware"
    HOST = "host"
    ENVIRONMENT = "environment"
    CODE = "code"


class Status(str, enum.Enum):
    """The status of a rule. ``skipped`` means that it could not decide; it never counts as healthy."""

    FOUND = "found"
    CLEAR = "clear"
    SKIPPED = "skipped"
    CRASHED = "crashed"


class ProbeStatus(str, enum.Enum):
    """The status of a probe; ``skipped``: the request excludes it."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    SKIPPED = "skipped"


class Verdict(str, enum.Enum):
    """The result of a run; ``unknown`` means that something could not be checked, see ``Report.unknown_because``."""

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
