"""Make the assignments of what was found, and look again: one is handed on only with what a check under it found."""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gpucheck.core.model import Assignment, Operation, Report
from gpucheck.core.repairs.shells import applied

ROUNDS_MAX = 3  # one fault can hide the next: a variable that keeps CUDA from starting hides the one that hides the GPUs


class Proof(NamedTuple):
    """What to assign, and the check made with all of it in force."""

    assignments: tuple[Assignment, ...]
    report: Report


def prove(check: Callable[[Mapping[str, str]], Report], env: Mapping[str, str]) -> Proof:
    """Repair an environment until nothing is left that a variable can repair.

    Args:
        check: checks the machine as a process with that environment sees it.
        env: the environment to start from.

    Returns:
        Every assignment, in the order of making them; the report is of the last environment.
    """
    made: dict[tuple[str, str], Assignment] = {}
    for _ in range(ROUNDS_MAX):
        report = check(applied(made.values(), env))
        new: dict[tuple[str, str], Assignment] = {}
        for assignment in (assignment for finding in report.findings for assignment in finding.assignments):
            key = (assignment.variable, assignment.value)
            if key not in made:
                new.setdefault(key, assignment)
        made |= new
        if not any(assignment.apply for assignment in new.values()):
            return Proof(tuple(made.values()), report)
        _prepare(new.values())
    return Proof(tuple(made.values()), check(applied(made.values(), env)))


def growth(env: Mapping[str, str]) -> tuple[Assignment, ...]:
    """Let TensorFlow take GPU memory as it needs it, if it is not told so already."""
    variable = "TF_FORCE_GPU_ALLOW_GROWTH"
    if env.get(variable, "").lower() == "true":
        return ()
    reason = "TensorFlow takes GPU memory as it needs it, not nearly all of it at once"
    return (Assignment(variable=variable, operation=Operation.SET, value="true", reason=reason),)


def _prepare(assignments: Iterable[Assignment]) -> None:
    """Make the folder of a new kernel cache, for this user alone: whoever makes it first decides what is loaded from it."""
    for assignment in assignments:
        if assignment.variable == "CUDA_CACHE_PATH" and assignment.value and assignment.apply:
            with contextlib.suppress(OSError):  # the check that follows tells
                os.mkdir(assignment.value, 0o700)
