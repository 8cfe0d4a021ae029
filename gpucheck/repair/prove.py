"""Plan, apply, and look again: an assignment is handed on only with what a check under it found."""

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from gpucheck.engine.facts import Facts
from gpucheck.model import ProbeStatus, Reading, Report
from gpucheck.repair.plan import Assignment, applied, plan

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
    assignments: list[Assignment] = []
    for _ in range(ROUNDS_MAX):
        report = check(applied(assignments, env))
        new = [one for one in plan(typed(report)) if one not in assignments]
        assignments += new
        if not any(one.apply for one in new):
            return Proof(tuple(assignments), report)
        prepare(new)
    return Proof(tuple(assignments), check(applied(assignments, env)))


def prepare(assignments: list[Assignment]) -> None:
    """Make the folder of a new kernel cache, for this user alone: whoever makes it first decides what is loaded from it."""
    for one in assignments:
        if one.name == "CUDA_CACHE_PATH" and one.value and one.apply:
            with contextlib.suppress(OSError):  # the check that follows tells
                os.mkdir(one.value, 0o700)


def typed(report: Report) -> Facts:
    """The facts of a report by their type."""
    return Facts(Reading(probe=name, status=ProbeStatus.OK, fact=fact) for name, fact in report.facts.items())
