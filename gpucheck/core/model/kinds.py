"""The enumerations of a report: levels, severities, scopes, statuses, verdicts, exit codes."""

import enum
from collections.abc import Iterable

PRECISIONS = ("float32", "mixed_float16", "mixed_bfloat16")  # Keras' dtype policies that are trained and measured


class Level(enum.IntEnum):
    """The depth of a run; each level includes those below it."""

    NODE = -1  # only the hardware and the host, no Python environment
    QUICK = 0
    DEFAULT = 1
    FULL = 2


class Severity(str, enum.Enum):
    """Error: this machine can't train as requested, or its results can't be trusted. Warning: it trains, but has a problem."""

    ERROR = "error"
    WARNING = "warning"


class Action(str, enum.Enum):
    """What must be done with the hardware, in the terms of NVIDIA's Xid catalog and of cluster managers."""

    IGNORE = "ignore"  # nothing now: jobs may run, and a repair may wait until the next maintenance
    RESTART_APPLICATION = "restart-application"  # only the affected program must be restarted
    DRAIN = "drain"  # no new job until the cause is found, or while existing work ends
    RESET_GPU = "reset-gpu"
    REBOOT = "reboot"  # the machine, or the virtual machine
    POWER_CYCLE = "power-cycle"
    SERVICE = "service"  # work on the hardware, or the vendor

    @property
    def severity(self) -> Severity:
        """Error if no new job may start before it is done, else a warning."""
        return Severity.WARNING if self in (Action.IGNORE, Action.RESTART_APPLICATION) else Severity.ERROR

    @staticmethod
    def strongest(actions: Iterable["Action"]) -> "Action":
        """Return the action that includes the others: the last in the order above. There must be at least one."""
        return max(actions, key=tuple(Action).index)


class Scope(str, enum.Enum):
    """Who must act. In order of cause: a fault in one breaks those after it."""

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
