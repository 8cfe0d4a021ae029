"""Combine the workers' results and faults into one training run."""

from collections.abc import Sequence

from msgspec.structs import replace

from gpucheck.core.child.messages.training import Trained
from gpucheck.core.child.messages.workers import FitTried, LinksMeasured
from gpucheck.core.cluster.watch import Worker, lost
from gpucheck.core.model import TrainingRun, WorkerFault, WorkerLink

MEASURED = ("status", "reason", "stage", "strategy", "devices", "cluster", "note", "workers", "worker_names", "worker_versions")


def joined_result(run: TrainingRun, workers: Sequence[Worker], faults: tuple[WorkerFault, ...]) -> TrainingRun:
    """The run as a whole. Figures are one worker's: they differ only by some microseconds.

    Args:
        run: the plan: strategy, devices, workers.
        workers: those that this run started.
        faults: of the workers responsible for a failure.
    """
    trained = [result.run for worker in workers if (result := worker.child.message(Trained)) is not None]
    if trained:
        run = replace(trained[0], **{name: getattr(run, name) for name in MEASURED})
    tried = (fit for worker in workers if (fit := worker.child.message(FitTried)) is not None and not lost(fit.problem))
    fit = next(tried, None)
    return replace(
        run,
        status=status(faults),
        reason=sentence(faults),
        stage=faults[0].stage if faults else None,
        fit_verified=fit.verified if fit else None,
        fit_problem=fit.problem if fit else None,
        worker_faults=faults,
        worker_links=_links(workers),
    )


def _links(workers: Sequence[Worker]) -> tuple[WorkerLink, ...]:
    """Each pair once, even if both are workers of this run."""
    measured = (message for worker in workers if (message := worker.child.message(LinksMeasured)))
    links = {link.workers: link for message in measured for link in message.links}
    return tuple(links.values())


def status(faults: tuple[WorkerFault, ...]) -> str:
    """The status of a run with these faults."""
    if faults and all(fault.how == "late" for fault in faults):
        return "timed_out"
    return "failed" if faults else "passed"


def sentence(faults: tuple[WorkerFault, ...]) -> str | None:
    """'worker 1: killed by SIGKILL'; with the stage if it differs from the run's."""
    same: dict[str, list[str]] = {}
    for fault in faults:
        where = f" in stage {fault.stage}" if fault.stage != faults[0].stage else ""
        same.setdefault(f"{fault.reason}{where}", []).append(fault.worker)
    return "; ".join(f"{', '.join(names)}: {what}" for what, names in same.items()) or None
