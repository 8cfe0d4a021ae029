"""What of a log is gpu-multiprocessor-count-too-low."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules.gpu_not_detected.gpu_multiprocessor_count_too_low import _VARIABLE


def in_log(log: Log) -> Finding | None:
    """TensorFlow says so itself. Where another GPU is in use, it is a display card that was left out."""
    told = [event for event in log.events if event.kind == "gpu-ignored" and event.fields.get("reason") == "multiprocessors"]
    if not told:
        return None
    fields = told[0].fields
    used = any(event.kind in ("gpu-created", "xla-device") for event in log.events)
    used = used or any(event.kind == "gpus-listed" and event.fields.get("count", "0") != "0" for event in log.events)
    other = any(int(event.fields.get("device", "0")) > 0 for event in told)  # the fastest GPU is GPU 0
    name = f"GPU {fields['device']}" if fields.get("device") else "a GPU"
    asked = f"asks for {fields['minimum']}" if fields.get("minimum") else "asks for more"
    return Finding(
        summary=f"TensorFlow ignores {name}{f' ({title})' if (title := fields.get('name')) else ''}: it has"
        f" {fields.get('count', 'few')} multiprocessors, and TensorFlow {asked}.",
        evidence=cite(*told),
        fix=(
            Fix(text="Train on it all the same", command=f"export {_VARIABLE}={fields.get('count', '1')}"),
            Fix(text="Or leave it out; it is meant for a display"),
        ),
        affects=tuple(f"GPU {event.fields['device']}" for event in told if event.fields.get("device")),
        severity=Severity.WARNING if used or other else None,
    )
