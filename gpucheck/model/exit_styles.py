"""Exit codes in the words of the systems that ask for them: ``--exit-style``.

Nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. node-problem-detector: 0 the condition is false, 1 it is true, 2 unknown. Docker:
0 healthy, 1 unhealthy, 2 reserved: what was not looked at is not healthy. Slurm drains a node whose Prolog fails, so only a
fault may: a wrong option would drain a whole cluster.
"""

from gpucheck.model.kinds import Verdict
from gpucheck.model.report import Report

EXIT_STYLES = {  # style -> state -> exit code
    "default": {"pass": 0, "warn": 0, "fail": 1, "usage": 2, "unknown": 3},
    "nagios": {"pass": 0, "warn": 1, "fail": 2, "usage": 3, "unknown": 3},
    "npd": {"pass": 0, "warn": 0, "fail": 1, "usage": 2, "unknown": 2},
    "docker": {"pass": 0, "warn": 0, "fail": 1, "usage": 1, "unknown": 1},
    "slurm": {"pass": 0, "warn": 0, "fail": 1, "usage": 0, "unknown": 0},
}


def state(report: Report) -> str:
    """The verdict as exit styles count it: "fail" also for warnings under --strict."""
    return "fail" if report.verdict is Verdict.WARN and report.exit_code else report.verdict.value


def exit_code(report: Report, style: str) -> int:
    """The exit status of a run in a style of ``EXIT_STYLES``."""
    return report.exit_code if style == "default" else EXIT_STYLES[style][state(report)]
