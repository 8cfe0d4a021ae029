"""Verification of the findings' assignments: each is returned only after a check with it."""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gpucheck.core.model import Assignment, Operation, Report
from gpucheck.core.system.shells import applied

ROUNDS_MAX = 3  # one fault can mask the next: a variable that stops CUDA from starting masks one that hides the GPUs


class Verified(NamedTuple):
    """The assignments, and the report of the check with all of them applied."""

    assignments: tuple[Assignment, ...]
    report: Report


def verify(check: Callable[[Mapping[str, str]], Report], env: Mapping[str, str]) -> Verified:
    """Repair an environment until no finding is left that an environment variable can fix.

    Args:
        check: checks the machine in a process with that environment.
        env: the environment to start from.

    Returns:
        All assignments in the order in which they were applied, and the report of the last environment.
    """
    assignments: dict[tuple[str, str], Assignment] = {}
    for _ in range(ROUNDS_MAX):
        report = check(applied(assignments.values(), env))
        new: dict[tuple[str, str], Assignment] = {}
        for assignment in (assignment for finding in report.findings for assignment in finding.assignments):
            key = (assignment.variable, assignment.value)
            if key not in assignments:
                new.setdefault(key, assignment)
        assignments |= new
        if not any(assignment.apply for assignment in new.values()):
            return Verified(tuple(assignments.values()), report)
        _prepare(new.values())
    return Verified(tuple(assignments.values()), check(applied(assignments.values(), env)))


def growth(env: Mapping[str, str]) -> tuple[Assignment, ...]:
    """Let TensorFlow allocate GPU memory as needed, unless the environment already configures it."""
    variable = "TF_FORCE_GPU_ALLOW_GROWTH"
    if env.get(variable, "").lower() == "true":
        return ()
    reason = "TensorFlow takes GPU memory as it needs it, instead of nearly all of it at start"
    return (Assignment(variable=variable, operation=Operation.SET, value="true", reason=reason),)


def _prepare(assignments: Iterable[Assignment]) -> None:
    """Create the folder of a new kernel cache for this user only: its owner controls what is loaded from it."""
    for assignment in assignments:
        if assignment.variable == "CUDA_CACHE_PATH" and assignment.value and assignment.apply:
            with contextlib.suppress(OSError):  # the next check reports the failure
                os.mkdir(assignment.value, 0o700)
