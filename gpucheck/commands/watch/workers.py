"""One summary for all workers of a training: each writes its own to a shared folder, and the first one reads them."""

import contextlib
import os
import time
from collections.abc import Callable, Mapping

import msgspec

from gpucheck.commands.watch.summary import Summary, length, seconds
from gpucheck.core.cluster.ranks import rank_of_size
from gpucheck.core.cluster.tf_config import TRAINING_JOBS, Parsed
from gpucheck.core.reports.shared.training import ALIKE
from gpucheck.core.reports.shared.words import plural, significant
from gpucheck.core.system.read import whole

RANK = "{rank}"  # in the name of a report: each worker writes its own
COLLECT_SECONDS = 30.0  # workers that train in step end together, but a network file system may show a new file late
LOOK_SECONDS = 0.2
PERCENT_POINTS = 10.0  # fewer are no difference
LARGEST_BYTES = 8 << 20  # of a summary: a million epochs


class Worker(msgspec.Struct, frozen=True):
    """A process among those that train together."""

    number: int = 0  # from 0, which reports for all
    count: int = 1


def worker(env: Mapping[str, str] = os.environ) -> Worker:
    """Return this process' place: from TF_CONFIG, else from the variables of mpirun, horovodrun, torchrun or Slurm."""
    parsed = Parsed(env.get("TF_CONFIG") or "{}")
    names = [f"{job} {index}" for job in TRAINING_JOBS for index in sorted(parsed.jobs.get(job, ()))]
    return Worker(names.index(parsed.task), len(names)) if parsed.task in names else Worker(*rank_of_size(env))


def forget(report: str, count: int) -> None:
    """Remove the summaries of an earlier training. Raises OSError."""
    for number in range(count):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(report.replace(RANK, str(number)))


def collect(report: str, own: Summary, wait_seconds: float = COLLECT_SECONDS) -> dict[int, Summary]:
    """Return the summary of each worker by its number, without those that are not there after a time."""
    found, until = {own.worker: own}, time.monotonic() + wait_seconds
    while len(found) < own.workers:
        for number in set(range(own.workers)) - set(found):
            with contextlib.suppress(OSError, msgspec.DecodeError):
                text = whole(report.replace(RANK, str(number)), LARGEST_BYTES)
                found[number] = msgspec.json.decode(text, type=Summary)
        if time.monotonic() >= until:
            break
        time.sleep(LOOK_SECONDS)
    return found


def together(found: Mapping[int, Summary], count: int) -> list[str]:
    """Return at most three lines about all workers: the rate of all, the differences, and what limits the one that limits all.

    Args:
        found: the summary of each worker by its number.
        count: of the workers.
    """
    steps = {number: one.step_seconds for number, one in found.items() if one.step_seconds}
    waits = {number: 100 * one.input_wait_share for number, one in found.items() if one.input_wait_share is not None}
    uses = {number: [gpu.utilization_percent for gpu in one.gpus] for number, one in found.items()}
    busy = {number: min(known) for number, each in uses.items() if (known := [use for use in each if use is not None])}
    rates = [one.samples_per_second for one in found.values()]
    first = found[min(found)]
    parts = [f"{plural(count, 'worker')}, {length(first)}"]
    if all(rates):
        parts.append(f"{significant(sum(filter(None, rates)))} samples/s in all")
    if steps:
        parts.append(f"a step takes {_range(steps, seconds)}")
    if missing := sorted(set(range(count)) - set(found)):
        parts.append(f"no summary of worker {', '.join(map(str, missing))}: the figures are without it")
    more = [f"waiting for data: {_range(waits, _percent, PERCENT_POINTS)}"] if waits else []
    more += [f"GPUs busy: {_range(busy, _percent, PERCENT_POINTS)}"] if busy else []
    slowest = _slowest(steps, waits)
    name, limit = ("", first.limit) if slowest is None else (f"worker {slowest}: ", found[slowest].limit)
    last = "" if limit is None else f"{name}{limit}"
    return [f"gpucheck: {text}" for text in [" · ".join(parts), " · ".join(more), last] if text]


def _slowest(steps: Mapping[int, float], waits: Mapping[int, float]) -> int | None:
    """The worker that limits all: the one with the longest steps, or, of workers in step, the one that waits for data most."""
    for values, apart in ((steps, 0.0), (waits, PERCENT_POINTS)):
        if values and not _alike(values, apart):
            return max(values, key=lambda number: values[number])
    return None


def _alike(values: Mapping[int, float], apart: float) -> bool:
    least, most = min(values.values()), max(values.values())
    return most <= max(ALIKE * least, least + apart)


def _range(values: Mapping[int, float], words: Callable[[float], str], apart: float = 0.0) -> str:
    """'80 ms on each', '80 ms (worker 1) to 95 ms (worker 0)'."""
    least, most = (choose(values, key=lambda number: values[number]) for choose in (min, max))
    if _alike(values, apart):
        return words(values[most]) + (" on each" if len(values) > 1 else "")
    return f"{words(values[least])} (worker {least}) to {words(values[most])} (worker {most})"


def _percent(value: float) -> str:
    return f"{value:.0f} %"
