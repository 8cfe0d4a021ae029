"""What rules ask of training runs, and of log lines as far as training went on after them."""

import re
from collections.abc import Callable
from typing import NamedTuple

from gpucheck.compat.keras import TITLES
from gpucheck.logs.events import Event
from gpucheck.logs.unresolved import unresolved
from gpucheck.model import Evidence, Skip, TrainingRun, saw
from gpucheck.model.naming import devices
from gpucheck.probes.log import Log
from gpucheck.probes.training import Training
from gpucheck.rules._words import short

# Illegal addresses and instructions, failed assertions: the program's doing, or rarely the board's.
KERNEL_FAULTS = ("700", "702", "710", "714", "715", "716", "717", "718", "719")
NOT_WATCHED = Skip("no training job and no log to see it in")


class Failure(NamedTuple):
    """Where a failure of a known kind was seen first."""

    text: str  # the reason or the log line, shortened
    evidence: tuple[Evidence, ...]
    affects: tuple[str, ...]
    run: TrainingRun | None = None  # None: seen in the log only
    event: Event | None = None


def failure(
    training: Training | None,
    log: Log | None,
    pattern: str,
    *kinds: str,
    on: Callable[[TrainingRun], bool] = lambda run: True,
    where: Callable[[Event], bool] = lambda event: True,
) -> Failure | Skip | None:
    """A failed run whose reason matches, else a log event of these kinds that nothing later took back.

    Where the jobs passed, an alarming line is no failure: None.
    """
    if training is not None:
        for index, run in enumerate(training.runs):
            if run.status == "failed" and on(run) and re.search(pattern, run.reason or ""):
                evidence = saw(training, f"runs[{index}].devices", f"runs[{index}].reason")
                return Failure(short(run.reason or ""), evidence, run.devices, run)
    lines = [(index, event) for index, event in alarms(training, log, *kinds) if where(event)]
    if log is not None and lines:
        index, event = lines[0]
        return Failure(short(event.text), saw(log, f"events[{index}].text"), (), None, event)
    return NOT_WATCHED if training is None and log is None else None


def standing(log: Log | None, *kinds: str) -> list[tuple[int, Event]]:
    """The events of these kinds after which training did not go on, with their places in ``Log.events``."""
    return unresolved(log, *kinds)


def alarms(training: Training | None, log: Log | None, *kinds: str) -> list[tuple[int, Event]]:
    """The standing events of these kinds; none where training, tried here, went well all the same."""
    if training is not None and training.ending is None and passed(training) and not failed(training):
        return []
    return standing(log, *kinds)


def passed(training: Training | None) -> list[TrainingRun]:
    """The runs that passed."""
    return [run for run in training.runs if run.status == "passed"] if training is not None else []


def failed(training: Training | None) -> list[TrainingRun]:
    """The runs that failed."""
    return [run for run in training.runs if run.status == "failed"] if training is not None else []


def on_gpu(run: TrainingRun) -> bool:
    """Whether the run was meant for GPUs."""
    return any("GPU" in device for device in run.devices)


def trained_on_gpu(training: Training | None, *, compiled: bool = False) -> bool:
    """Whether a training job passed on a GPU (with a step compiled by TensorFlow's XLA, if ``compiled``): proof of all it stands on."""
    return training is not None and any(
        run.status == "passed"
        and (not compiled or (run.backend == "tensorflow" and (run.compiled or run.xla_verified)))
        and on_gpu(run)
        for run in training.runs
    )


def label(run: TrainingRun) -> str:
    """'mirrored on GPU:0-7 in mixed_float16', 'one_device on GPU:0 with JAX'."""
    precision = "" if run.precision == "float32" else f" in {run.precision}"
    framework = "" if run.backend == "tensorflow" else f" with {TITLES[run.backend]}"
    return f"{run.strategy}{' on ' + devices(run.devices) if run.devices else ''}{precision}{framework}"
