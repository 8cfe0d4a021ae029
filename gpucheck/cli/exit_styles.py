"""Exit codes as other systems define them: ``--exit-style``.

Nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. node-problem-detector: 0 the condition is false, 1 it is true, 2 unknown. Docker:
0 healthy, 1 unhealthy, 2 reserved: a machine that was not checked is not healthy. Slurm drains a node whose Prolog fails, so only
a fault may exit with an error: a wrong option would drain a whole cluster.

Imports only the standard library: a damaged installation also needs the codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucheck.core.model import Report

EXIT_STYLES = {  # style -> state -> exit code
    "default": {"pass": 0, "warn": 0, "fail": 1, "usage": 2, "unknown": 3},
    "nagios": {"pass": 0, "warn": 1, "fail": 2, "usage": 3, "unknown": 3},
    "npd": {"pass": 0, "warn": 0, "fail": 1, "usage": 2, "unknown": 2},
    "docker": {"pass": 0, "warn": 0, "fail": 1, "usage": 1, "unknown": 1},
    "slurm": {"pass": 0, "warn": 0, "fail": 1, "usage": 0, "unknown": 0},
}


def exit_code(report: Report, style: str) -> int:
    """Return the exit status of a run in a style of ``EXIT_STYLES``."""
    return report.exit_code if style == "default" else EXIT_STYLES[style][report.effective_verdict]


def unknown_code(arguments: Sequence[str]) -> int:
    """Return the exit status for "unknown" in the style on a command line that was not parsed."""
    style = next(values_of("--exit-style", arguments), "default")
    return EXIT_STYLES.get(style, EXIT_STYLES["default"])["unknown"]


def values_of(option: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the values of an option on a command line that was not parsed, and may be invalid."""
    for number, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == "--":
            return
        if name == option:
            yield value if equals else next(iter(arguments[number + 1 :]), "")
