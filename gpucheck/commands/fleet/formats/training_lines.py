"""The lines about nodes that trained together, for the terminal, HTML and JUnit."""

import statistics
from collections.abc import Iterator

from gpucheck.commands.fleet.model import FleetTraining, FleetWorker
from gpucheck.core.model.wording import milliseconds
from gpucheck.core.reports.shared.words import plural

STYLES = {"passed": "ok", "failed": "fail"}


def lines(training: FleetTraining, most: int) -> Iterator[tuple[str, str, str]]:
    """Yield label, style and text of every line; only the slowest workers are listed."""
    yield "training", STYLES.get(training.status, "warn"), f"{training.status}: {_summary(training)}"
    for fault in training.faults[:most]:
        where = f" in stage {fault.stage}" if fault.stage else ""
        yield "worker", "fail", f"{fault.worker} on {fault.node}: {fault.reason}{where}"
    for skew in training.skew[:most]:
        yield (
            "versions",
            "warn" if skew.tolerated else "fail",
            f"{skew.what} {skew.value} on {skew.nodes}; {skew.usual} on the other nodes",
        )
    for node, times in list(slow(training).items())[:most]:
        yield "slow", "warn", f"{node}: its fastest link takes {times:.1f} times the median of the other nodes"
    measured = [worker for worker in training.workers if worker.link_seconds is not None]
    for worker in sorted(measured, key=lambda one: -(one.link_seconds or 0.0))[:most]:
        yield "worker", "quiet", f"{worker.name} on {worker.node} ({worker.address}): {figures(worker, training)}"
    if len(measured) > most:
        yield "", "quiet", f"and {plural(len(measured) - most, 'worker')} with faster links (--format json has all)"


def _summary(training: FleetTraining) -> str:
    workers = plural(len(training.workers), "worker")
    if training.samples_per_second is None:
        return f"{len(training.faults):,} of {workers} failed" if training.faults else training.reason or workers
    parts = [f"{workers}, {training.samples_per_second:,.4g} samples/s together"]
    parts += [f"{milliseconds(training.step_seconds)} per step"] if training.step_seconds is not None else []
    parts += ["each with its own data"] if training.shards_verified else []
    parts += ["the same final weights"] if training.replicas_equal else []
    return ", ".join(parts)


def slow(training: FleetTraining) -> dict[str, float]:
    """Return, for each slow node, the time of its fastest link as a multiple of the other nodes' median."""
    best = {worker.node: worker.link_seconds for worker in training.workers if worker.link_seconds is not None}
    medians = {node: statistics.median(seconds for other, seconds in best.items() if other != node) for node in training.slow}
    return {node: best[node] / medians[node] for node in training.slow}


def figures(worker: FleetWorker, training: FleetTraining) -> str:
    """Return the measurements of a worker whose links were measured."""
    alone = f"{worker.alone_samples_per_second:,.4g} samples/s alone, " if worker.alone_samples_per_second else ""
    sums = next((link.sum_bytes for link in training.links if worker.node in link.nodes), 0)
    return f"{alone}{sums / 1e6:.3g} MB all-reduced with another in {milliseconds(worker.link_seconds or 0.0)} at best"
