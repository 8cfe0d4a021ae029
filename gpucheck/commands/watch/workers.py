"""One summary for all workers of a training run: each writes its own to a shared folder, and the first one reads them."""

import contextlib
import os
import time
from collections.abc import Callable, Mapping

import msgspec

from gpucheck.commands.watch.summary import Summary, joined, length, seconds
from gpucheck.core.cluster.ranks import rank_of_size
from gpucheck.core.cluster.tf_config import TRAINING_JOBS, Parsed
from gpucheck.core.reports.shared.training import SIMILAR
from gpucheck.core.reports.shared.words import plural, significant
from gpucheck.core.system.read import INVALID_JSON, whole

Path = os.PathLike[str]
RANK = "{rank}"  # placeholder in a report's name, replaced by the worker's number
COLLECT_SECONDS = 30.0  # synchronized workers end together, but a network file system may show a new file late
POLL_SECONDS = 0.2
PERCENT_POINTS = 10.0  # smaller differences are ignored
SUMMARY_BYTES_MAX = 8 << 20  # about a million epochs


class Worker(msgspec.Struct, frozen=True):
    """One of several processes that train together."""

    number: int = 0  # from 0; worker 0 reports for all
    count: int = 1


def worker(env: Mapping[str, str] = os.environ) -> Worker:
    """Return this process' number and the count: from TF_CONFIG, or variables of mpirun, horovodrun, torchrun or Slurm."""
    parsed = Parsed(env.get("TF_CONFIG") or "{}")
    names = [f"{job} {index}" for job in TRAINING_JOBS for index in sorted(parsed.jobs.get(job, ()))]
    return Worker(names.index(parsed.task), len(names)) if parsed.task in names else Worker(*rank_of_size(env))


def verified(report: str | Path, worker: Worker) -> str:
    """Return the path of a worker's report. Raises ValueError if it can't be written, before hours of training are wasted."""
    report = os.fspath(report)
    if not report.endswith((".json", ".md", ".html")):
        raise ValueError(f"report must end in .json, .md or .html. Received: report={report!r}")
    if RANK in report and not report.endswith(".json"):
        raise ValueError(f"report with {RANK} must end in .json. Received: report={report!r}")
    folder = os.path.dirname(report.replace(RANK, str(worker.number))) or "."
    if (RANK in report or not worker.number) and not os.path.isdir(folder):
        raise ValueError(f"the folder of report does not exist: create {folder}. Received: report={report!r}")
    return report


def forget(report: str, count: int) -> None:
    """Remove the summaries of an earlier training. Raises OSError."""
    for number in range(count):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(report.replace(RANK, str(number)))


def collect(report: str, own: Summary, wait_seconds: float = COLLECT_SECONDS) -> dict[int, Summary]:
    """Return the summaries by worker number, without those that are missing after ``wait_seconds``."""
    summaries, until = {own.worker: own}, time.monotonic() + wait_seconds
    while len(summaries) < own.workers:
        for number in set(range(own.workers)) - set(summaries):
            with contextlib.suppress(OSError, *INVALID_JSON):
                text = whole(report.replace(RANK, str(number)), SUMMARY_BYTES_MAX)
                summaries[number] = msgspec.json.decode(text, type=Summary)
        if time.monotonic() >= until:
            break
        time.sleep(POLL_SECONDS)
    return summaries


def together(summaries: Mapping[int, Summary], count: int) -> list[str]:
    """Return at most three lines about all workers: the total rate, the differences, and the limit of the slowest worker.

    Args:
        summaries: the summary of each worker by its number.
        count: number of workers.
    """
    steps = {number: one.step_seconds for number, one in summaries.items() if one.step_seconds}
    waits = {number: 100 * one.input_wait_share for number, one in summaries.items() if one.input_wait_share is not None}
    uses = {number: [gpu.utilization_percent for gpu in one.gpus] for number, one in summaries.items()}
    busy = {number: min(known) for number, each in uses.items() if (known := [use for use in each if use is not None])}
    rates = [one.samples_per_second for one in summaries.values()]
    first = summaries[min(summaries)]
    parts = [f"{plural(count, 'worker')}, {length(first)}"]
    if all(rates):
        parts.append(f"{significant(sum(filter(None, rates)))} samples/s in total")
    if steps:
        parts.append(f"a step takes {_range(steps, seconds)}")
    if missing := sorted(set(range(count)) - set(summaries)):
        parts.append(f"no summary of worker {', '.join(map(str, missing))}, which the figures exclude")
    more = [f"waiting for data: {_range(waits, _percent, PERCENT_POINTS)}"] if waits else []
    more += [f"GPUs busy: {_range(busy, _percent, PERCENT_POINTS)}"] if busy else []
    slowest = _slowest(steps, waits)
    name, limit = ("", first.limit) if slowest is None else (f"worker {slowest}: ", summaries[slowest].limit)
    return joined(parts, more, limit and f"{name}{limit}")


def _slowest(steps: Mapping[int, float], waits: Mapping[int, float]) -> int | None:
    """Return the worker with the longest steps, or, if all take equally long, the longest wait for data; None: no difference."""
    for values, tolerance in ((steps, 0.0), (waits, PERCENT_POINTS)):
        if values and not _equal(values, tolerance):
            return max(values, key=lambda number: values[number])
    return None


def _equal(values: Mapping[int, float], tolerance: float) -> bool:
    minimum, maximum = min(values.values()), max(values.values())
    return maximum <= max(SIMILAR * minimum, minimum + tolerance)


def _range(values: Mapping[int, float], to_text: Callable[[float], str], tolerance: float = 0.0) -> str:
    """Return values as text: '80 ms on each', '80 ms (worker 1) to 95 ms (worker 0)'."""
    minimum, maximum = (choose(values, key=lambda number: values[number]) for choose in (min, max))
    if _equal(values, tolerance):
        return to_text(values[maximum]) + (" on each" if len(values) > 1 else "")
    return f"{to_text(values[minimum])} (worker {minimum}) to {to_text(values[maximum])} (worker {maximum})"


def _percent(value: float) -> str:
    return f"{value:.0f} %"
