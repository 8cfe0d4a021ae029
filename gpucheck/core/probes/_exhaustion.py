"""An out-of-memory error, provoked in a child process to test whether a program can catch it and train afterwards."""

from collections.abc import Iterable

from gpucheck.core.child.messages.frameworks import KerasImported, TensorFlowImported
from gpucheck.core.child.messages.training import Exhausted, ExhaustionTask, LimitSet, Recovered
from gpucheck.core.host import Child, Ending, Host
from gpucheck.core.model import Experiment, TrainingRun

NAME = "out_of_memory"
CAUGHT = "ResourceExhaustedError"
LIMIT_SECONDS = 90.0  # including ten in which TensorFlow itself waits for a GPU's memory
TOLERANCE = 0.01  # relative: afterwards the same steps give the same loss, except for rounding
WHEN = {
    Exhausted.stage: "when it requested more memory than available",
    Recovered.stage: "when it trained again, after it caught an out-of-memory error",
}


def provoke(host: Host, runs: Iterable[TrainingRun]) -> list[Experiment]:
    """Run out of memory on the first device that TensorFlow trained on in this run; empty if there is none."""
    passed = [run for run in runs if run.status == "passed" and run.backend == "tensorflow" and run.workers is None]
    if not passed:
        return []
    device = passed[0].devices[0]
    if device.startswith("TPU"):
        return [Experiment(name=NAME, status="skipped", reason="TensorFlow can't limit a TPU's memory", devices=(device,))]
    split = max(1, host.request.logical_devices)
    gpu = int(device.split(":")[1]) // split if device.startswith("GPU") else None
    child = host.child(ExhaustionTask(gpu), limit=LIMIT_SECONDS)
    ending = child.end()
    limit, exhausted, recovered = child.message(LimitSet), child.message(Exhausted), child.message(Recovered)
    reason: str | None
    if not ending.ok:
        status, reason = _unfinished(ending, host.remaining() <= 0)
    elif limit is None:
        status, reason = "failed", f"the process did not reach training: {_import_problems(child)}"
    else:
        status, reason = _judge(limit, exhausted, recovered, gpu is not None)
    experiment = Experiment(
        name=NAME,
        status=status,
        reason=reason,
        devices=(device,),
        figures={
            "limit_set_by_gpucheck_bytes": limit.limit_bytes if limit else None,
            "asked_bytes": exhausted.asked_bytes if exhausted else None,
            "raised_after_seconds": exhausted.seconds if exhausted else None,
            "loss_before": limit.loss if limit else None,
            "loss_after": recovered.loss if recovered else None,
        },
        note=exhausted.words if exhausted else None,
    )
    return [experiment]


def _unfinished(ending: Ending, out_of_time: bool) -> tuple[str, str]:
    """Return status and reason of an experiment that did not finish: the child hung, crashed or was killed."""
    when = WHEN.get(ending.stage.name if ending.stage else "", "before it requested memory")
    if ending.how == "timed out":
        return ("timed_out", "the time limit was reached") if out_of_time else ("failed", f"the process hung {when}")
    return "failed", f"the process ended {when}: {ending.how}"


def _import_problems(child: Child) -> str:
    imported = (child.message(TensorFlowImported), child.message(KerasImported))
    return "; ".join(one.outcome.error for one in imported if one is not None and one.outcome.error) or "no reason was given"


def _judge(limit: LimitSet, exhausted: Exhausted | None, recovered: Recovered | None, on_gpu: bool) -> tuple[str, str | None]:
    if limit.problem or limit.limit_bytes is None:
        return "skipped", limit.problem
    if exhausted is None or recovered is None:
        return "failed", "the process reported no result"
    requested = f"{exhausted.asked_bytes / 2**30:.1f} GiB"
    within = f"gpucheck's own limit of {limit.limit_bytes / 2**30:.1f} GiB"
    if exhausted.error is None:
        given = f"{requested} were allocated within {within}"
        return ("failed", given) if on_gpu else ("skipped", f"{given}: this system does not enforce it")
    if exhausted.error != CAUGHT:
        return "failed", f"requesting {requested} within {within} does not raise {CAUGHT}, but {exhausted.words}"
    if not abs(recovered.loss - limit.loss) <= TOLERANCE * abs(limit.loss):
        return (
            "failed",
            f"the same steps give a loss of {recovered.loss:.4g} after a caught out-of-memory error, and {limit.loss:.4g} before",
        )
    return "passed", None
