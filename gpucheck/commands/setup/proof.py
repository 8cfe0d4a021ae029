"""Verify an environment by running gpucheck on it, including training."""

import os
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from gpucheck.commands.setup.steps import LOG_BYTES, Failed, Screen, running
from gpucheck.core.host.child import PACKAGE
from gpucheck.core.host.process import Process
from gpucheck.core.model import Report, Verdict
from gpucheck.core.solver import commands
from gpucheck.core.solver.answer import Choice
from gpucheck.core.system.read import INVALID_JSON

PROOF_SECONDS = 300.0
LEAST_SECONDS = 20.0
RESERVE_SECONDS = 5.0  # for its start and its end
# Because steps start in the root folder, `python -m gpucheck` would not find a checkout that is not installed.
_START = "import sys; sys.path.append(sys.argv.pop(1)); from gpucheck.cli import main; main()"


class Proof(NamedTuple):
    """The result of gpucheck on the environment."""

    good: bool
    text: str


def prove(choice: Choice, python: str, env: dict[str, str], screen: Screen, deadline: float) -> Proof:
    """Run gpucheck on the environment, including training.

    Args:
        choice: the installed choice.
        python: the environment's interpreter.
        env: variables, including those that the choice requires.
        screen: for progress output.
        deadline: ``time.monotonic()`` by which the check must end.

    Raises:
        Failed: no time was left.
    """
    left = deadline - time.monotonic()
    if left < LEAST_SECONDS:
        raise Failed("no time was left to verify the environment (--timeout); it was removed")
    seconds = min(PROOF_SECONDS, left - RESERVE_SECONDS)
    argv = [sys.executable, "-c", _START, os.path.dirname(PACKAGE), "--python", python]
    argv += ["--format", "json", "--timeout", f"{seconds:.0f}"]
    argv += [] if choice.backend == "tensorflow" else ["--backend", choice.backend]
    if commands.trains_on_cpu(choice):
        argv.append("--allow-cpu")
        env = {**env, "CUDA_VISIBLE_DEVICES": "-1"}  # hide a GPU that the user does not want to use
    with running(argv, env) as process:
        process.late = not process.wait(deadline, _ticking(screen))
        text = process.out.text(LOG_BYTES)
    return _proof(text, process)


def _ticking(screen: Screen) -> Callable[[], bool]:
    started = time.monotonic()

    def tick() -> bool:
        if screen.progress is not None:
            screen.progress(f"      {time.monotonic() - started:.0f} s")
        return False

    return tick


def _proof(text: str, process: Process) -> Proof:
    """Return the verdict of the report, with the trained jobs, or the problems."""
    try:
        report = msgspec.json.decode(text, type=Report)
    except INVALID_JSON:
        return Proof(False, f"gpucheck {process.how()} without a report")
    if process.returncode == 0 and report.verdict in (Verdict.PASS, Verdict.WARN):
        passed = (run for run in report.training if run.status == "passed")
        return Proof(True, "; ".join(f"{run.strategy} trained on {', '.join(run.devices)}" for run in passed))
    roots = (f"{finding.code}: {finding.summary}" for finding in report.findings if finding.explained_by is None)
    return Proof(False, "; ".join([*roots, *report.unknown_because]) or f"gpucheck {process.how()}")
