"""Verify an environment by running gpucheck on it, including training."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpucheck.commands.setup.steps import LOG_BYTES, Failed, Screen, running
from gpucheck.core.host.child import PACKAGE
from gpucheck.core.host.process import Process
from gpucheck.core.model import Verdict
from gpucheck.core.solver import commands
from gpucheck.core.solver.answer import Choice

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
    """Return the verdict of the report."""
    report: dict[str, object] = {}
    with contextlib.suppress(ValueError):
        report = json.loads(text)
    good = process.returncode == 0 and report.get("verdict") in (Verdict.PASS.value, Verdict.WARN.value)
    return Proof(good, "; ".join(_lines(report, good)) or f"gpucheck {process.how()} without a report")


def _lines(report: dict[str, object], good: bool) -> Iterator[str]:
    """Yield the trained jobs, or the problems."""
    training, findings = report.get("training"), report.get("findings")
    for run in training if good and isinstance(training, list) else ():
        if run.get("status") == "passed":
            yield f"{run.get('strategy')} trained on {', '.join(run.get('devices') or ())}"
    for finding in findings if not good and isinstance(findings, list) else ():
        if finding.get("explained_by") is None:
            yield f"{finding.get('code')}: {finding.get('summary')}"
    unknown = report.get("unknown_because")
    if not good and isinstance(unknown, list):
        yield from map(str, unknown)
