"""Causes between GPUs and between workers: replicas, peer access, connections."""

from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events
from gpucheck.core.logs.events import Event, Kind
from gpucheck.core.model import Severity
from gpucheck.core.model.naming import devices
from gpucheck.core.repairs.wording import short


def worker_unreachable(events: Events) -> Cause | None:
    """A worker that can't listen, or one that does not answer; other programs use gRPC, too."""
    failed = events.unresolved(Kind.WORKER_UNREACHABLE, Kind.WORKER_ADDRESS_IN_USE)
    clustered = events.has(Kind.CLUSTER_NAMED)
    failed = [
        event for event in failed if event.kind == Kind.WORKER_ADDRESS_IN_USE or _of_workers(event, clustered, events.log.of_tpu)
    ]
    if not failed:
        return None
    taken = failed[0].kind == Kind.WORKER_ADDRESS_IN_USE
    what = "This worker can't listen on its address, so no other reaches it" if taken else "A worker does not answer"
    return Cause(f"{what}: {short(failed[0].text)}.", failed[:1])


def _of_workers(event: Event, clustered: bool, tpu: bool) -> bool:
    return not tpu and ("needs" not in event.fields or clustered)


def tpu_unreachable(events: Events) -> Cause | None:
    """A program on a TPU could not connect, and no line says more of the TPU."""
    failed = [event for event in events.unresolved(Kind.WORKER_UNREACHABLE) if "needs" not in event.fields]
    if not failed or not events.log.of_tpu or events.has(Kind.TPU_FAILED):
        return None
    return Cause(f"TensorFlow could not connect to the TPU: {short(failed[0].text)}.", failed[:1])


def multi_worker_fit_unsupported(events: Events) -> Cause | None:
    """Values of replicas that Keras tried to convert."""
    clustered = events.has(Kind.CLUSTER_NAMED)
    failed = [event for event in events.unresolved(Kind.MULTI_WORKER_FIT_UNSUPPORTED) if clustered or "needs" not in event.fields]
    if not failed:
        return None
    summary = f"Keras 3's fit was used under MultiWorkerMirroredStrategy, which it does not support: {short(failed[0].text)}."
    return Cause(summary, failed[:1])


def peer_access_unavailable(events: Events) -> Cause | None:
    """A refusal, which may have stopped training; or NCCL says that it does without."""
    if refused := events.unresolved(Kind.PEER_ACCESS_UNAVAILABLE):
        stopped = events.unresolved(Kind.NCCL_FAILED, Kind.CUDA_ERROR, Kind.TRACEBACK)
        summary = f"GPUs refuse each other peer access: {short(refused[0].text)}."
        return Cause(summary, refused[:1], Severity.ERROR if stopped else None)
    unused = events.of(Kind.PEER_ACCESS_DISABLED)
    if not unused or events.unresolved(Kind.NCCL_FAILED):
        return None
    summary = "NCCL does not let connected GPUs read each other's memory, so gradients take the way through main memory."
    return Cause(summary, unused[:1])


def replica_count_mismatch(events: Events) -> Cause | None:
    """Devices that a strategy was given and TensorFlow does not have, or a strategy with fewer replicas than GPUs were created."""
    created = {event.fields["device"]: event for event in events.of(Kind.GPU_CREATED) if event.fields.get("device")}
    for event in events.unresolved(Kind.STRATEGY_DEVICE_INVISIBLE):
        missing = [name for name in event.fields["devices"].split(",") if name not in created]
        if missing and "GPU:0" not in missing:  # without GPU:0 it has no GPU at all
            summary = f"The strategy was given {devices(missing)}, which TensorFlow does not see."
            return Cause(summary, [event], Severity.WARNING)
    fewer = next((event for event in events.log.events if 0 < _replicas(event) < len(created)), None)
    if fewer is None:
        return None
    count = _replicas(fewer)
    summary = f"TensorFlow created {len(created)} GPUs, and the strategy trains on {count} replica{'s' if count > 1 else ''}."
    return Cause(summary, [fewer, *created.values()], Severity.WARNING)


def _replicas(event: Event) -> int:
    """How many a line counts; 0 where it counts none, or those of a strategy that is for one device."""
    mirrored = event.kind == Kind.STRATEGY_DEVICES and "Mirrored" in event.fields.get("strategy", "")
    return int(event.fields.get("count", "0")) if mirrored or event.kind == Kind.REPLICAS else 0
