"""Training jobs in reports: the row of a table for each, and which rates are comparable."""

import math
from typing import NamedTuple

from gpucheck.core.model import TrainingRun
from gpucheck.core.model.naming import devices
from gpucheck.core.reports.shared.words import duration, significant, size, strategy

NOTHING = "–"
SIMILAR = 1.1  # ratio of rates below which bars would not show a difference


class Row(NamedTuple):
    """The formatted values of one training job, for a table."""

    strategy: str
    devices: str
    precision: str
    rate: str  # samples per second
    step: str
    first_step: str
    memory: str
    loss: str


def row(run: TrainingRun) -> Row:
    """Return the row of a training job."""
    first, last = run.loss.first, run.loss.last
    return Row(
        strategy=strategy(run),
        devices=devices(run.devices) or NOTHING,
        precision=precision(run),
        rate=number(run.samples_per_second),
        step=NOTHING if run.step_seconds is None else f"{significant(run.step_seconds * 1000)} ms",
        first_step=NOTHING if run.first_step_seconds is None else duration(run.first_step_seconds),
        memory=NOTHING if run.peak_memory_bytes is None else size(run.peak_memory_bytes),
        loss=NOTHING if first is None and last is None else f"{number(first)} → {number(last)}",
    )


def precision(run: TrainingRun) -> str:
    """Return the dtype policy, and whether XLA compiled the training: "float32 XLA"."""
    return f"{run.precision} XLA" if run.compiled else run.precision


def number(value: float | None) -> str:
    """Format a value with three significant digits; "–" if unknown."""
    return NOTHING if value is None else significant(value)


def why_not(run: TrainingRun) -> str:
    """Return why a job did not pass: "at first step: out of memory"."""
    return (f"at {run.stage}: " if run.stage else "") + (run.reason or "no reason given")


def shares(runs: tuple[TrainingRun, ...]) -> list[int | None]:
    """Return each job's rate in percent of the fastest, for a bar; all None if rates are about equal, or only one job has one."""
    rates = [rate if rate is not None and 0 < rate < math.inf else None for rate in (run.samples_per_second for run in runs)]
    known = [rate for rate in rates if rate is not None]
    if not known or max(known) <= SIMILAR * min(known):
        return [None] * len(rates)
    return [None if rate is None else max(1, round(100 * rate / max(known))) for rate in rates]


def concurrency_note(runs: tuple[TrainingRun, ...]) -> str | None:
    """Return a sentence with the devices that trained at the same time, which lowers their rates; None if there are none."""
    names = dict.fromkeys(name for run in runs if run.trained_with for name in run.devices)
    return f"{devices(names)} trained at the same time, each with the load of the others" if names else None


def singles(run: TrainingRun, runs: tuple[TrainingRun, ...]) -> list[TrainingRun]:
    """Return the jobs that passed on one of a run's devices alone, with the same work as each replica.

    If possible, only jobs that did not train at the same time as others, which lowers their rates.
    """
    replicas = [single for single in runs if _is_comparable(single, run)]
    return [single for single in replicas if not single.trained_with] or replicas


def _is_comparable(single: TrainingRun, run: TrainingRun) -> bool:
    return (
        (single.strategy, single.replicas, single.status) == ("one_device", 1, "passed")
        and set(single.devices) <= set(run.devices)
        and all(getattr(single, name) == getattr(run, name) for name in ("precision", "compiled", "per_replica_batch_size"))
    )
