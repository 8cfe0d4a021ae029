"""What of a log is gpus-not-listed."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import CPU_IS_ENOUGH


def in_log(log: Log) -> Finding | None:
    """A program counts no GPU and no line says why; an error only where another line shows that there is one."""
    counted = [event for event in log.events if event.kind == "gpus-listed"]
    if not counted or any(event.fields.get("count", "0") != "0" for event in counted):
        return None
    if any(event.kind in ("gpu-created", "xla-device") for event in log.events):
        return None
    there = [event for event in log.events if event.kind in ("gpu-on-bus", "gpu-found")]
    there += [event for event in log.events if event.kind == "driver-version" and event.fields.get("cuda")]
    asked = any(event.kind == "placement-failed" for event in log.events)
    return Finding(
        summary="The driver knows a GPU, and TensorFlow lists none." if there else "TensorFlow lists no GPU.",
        evidence=cite(counted[0], *there[:1]),
        fix=(
            Fix(
                text="Let TensorFlow say which library it fails to open",
                command="TF_CPP_MAX_VLOG_LEVEL=1 python -c \"import tensorflow as tf; tf.config.list_physical_devices('GPU')\" 2>&1"
                " | grep -iE 'could not load|dlerror|ignoring visible'",
            ),
            *(() if there else (CPU_IS_ENOUGH,)),
        ),
        severity=None if there or asked else Severity.WARNING,
    )
