"""What of a log is replica-count-mismatch."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.model.naming import devices
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import cite, told
from gpucheck.rules.multi_gpu_slowdown.replica_count_mismatch import FIX


def in_log(log: Log) -> Finding | None:
    """Two processes on one GPU, GPUs asked for that are not there, or a strategy with fewer replicas than GPUs were created."""
    shared, asked = told(log, "gpu-shared-by-ranks"), told(log, "gpus-requested")
    if shared:
        fields = shared[0].fields
        return Finding(
            summary=f"Ranks {fields['rank']} and {fields['other']} train on the same GPU.",
            evidence=cite(*shared),
            fix=(
                Fix(text="Start one process per GPU", command="nvidia-smi -L | wc -l"),
                Fix(text="Give each of them its own, in PyTorch: torch.cuda.set_device(int(os.environ['LOCAL_RANK']))"),
            ),
        )
    if asked:
        fields = asked[0].fields
        return Finding(
            summary=f"The program asks for {fields['asked']} GPUs, and this machine has {fields['count']}.",
            evidence=cite(*asked),
            fix=(Fix(text="Ask for as many as there are", command="nvidia-smi -L"), *FIX),
        )
    created = {
        event.fields["device"]: event for event in log.events if event.kind == "gpu-created" and event.fields.get("device")
    }
    unseen = _unseen(log, created)
    if unseen is not None:
        return unseen
    fewer = next((event for event in log.events if 0 < _replicas(event) < len(created)), None)
    if fewer is None:
        return None
    count = _replicas(fewer)
    return Finding(
        summary=f"TensorFlow created {len(created)} GPUs, and the strategy trains on {count} replica{'s' if count > 1 else ''}.",
        evidence=cite(fewer, *created.values()),
        fix=FIX,
        severity=Severity.WARNING,
    )


def _unseen(log: Log, created: dict[str, Event]) -> Finding | None:
    """Devices that a strategy was given and TensorFlow does not have; without GPU:0 it has none, and another rule says so."""
    for event in told(log, "strategy-device-invisible"):
        missing = [name for name in event.fields["devices"].split(",") if name not in created]
        if missing and "GPU:0" not in missing:
            return Finding(
                summary=f"The strategy was given {devices(missing)}, which TensorFlow does not see.",
                evidence=cite(event),
                fix=(Fix(text="Name no more GPUs than there are", command="nvidia-smi -L"), *FIX),
                severity=Severity.WARNING,
            )
    return None


def _replicas(event: Event) -> int:
    """How many a line counts; 0 where it counts none, or those of a strategy that is for one device."""
    mirrored = event.kind == "strategy-devices" and "Mirrored" in event.fields.get("strategy", "")
    return int(event.fields.get("count", "0")) if mirrored or event.kind == "replicas" else 0
