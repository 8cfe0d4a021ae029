"""What of a log is kernel-cache-unwritable."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite


def in_log(log: Log) -> Finding | None:
    """The driver's or a framework's word that it can't keep what it compiles."""
    told = [event for event in log.events if event.kind == "kernel-cache-unwritable"]
    if not told:
        return None
    path = told[0].fields.get("path")
    return Finding(
        summary=f"The cache of compiled GPU kernels{f' {path}' if path else ''} can't be written, so each start compiles them again.",
        evidence=cite(*told),
        fix=(
            Fix(
                text="Name a folder that this user can write and that outlives the process (in a container: on a volume)",
                command='export CUDA_CACHE_PATH="/var/tmp/cuda-cache-$(id -u)" && mkdir -p "$CUDA_CACHE_PATH"',
            ),
        ),
    )
