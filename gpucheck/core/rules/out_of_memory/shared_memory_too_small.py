"""Shared memory (/dev/shm), which processes and NCCL use to exchange data, is too small for several GPUs or data loader workers.

Symptom:
    ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
    NCCL WARN Error while creating shared memory segment /dev/shm/nccl-
    - The SHMEM allocation limit is set to the default of 64MB.
Cause:
    Docker and Kubernetes give a container 64 MB of shared memory by default. NCCL places its buffers between GPUs there, and data
    workers in separate processes pass their batches through it. A write past its end fails with SIGBUS.
Verify:
    $ df -h /dev/shm
Unless:
    One process trains on one GPU with tf.data: then shared memory is not used.
Example:
    limits.shared_memory_total_bytes = 67108864
    limits.shared_memory_free_bytes = 67108864
    -> This container has 64 MiB of shared memory (/dev/shm); data loader workers and training on several GPUs need at least 512 MiB.
References:
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory
    https://docs.docker.com/reference/cli/docker/container/run/
"""

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.resources import Resources
from gpucheck.core.combiners.training_outcomes import on_gpu
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import gib
from gpucheck.core.probes.container import Container
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import at_start

ENOUGH_BYTES = 512 << 20
TINY_BYTES = 64 << 20  # Docker's default


@rule(severity=Severity.WARNING, scope=Scope.HOST, explains=("nccl-failed",), first_check="df -h /dev/shm", jobs=True)
def check(
    resources: Resources, container: Container | None, used: GpusInUse | None, log_causes: LogCauses, context: Context
) -> Finding | Skip | None:
    """Report shared memory that ran out, or is small in a container with GPUs; an error if tiny and no run used several GPUs."""
    limits = resources.limits
    total = limits.shared_memory_total_bytes if limits is not None else None
    size = saw(limits, "shared_memory_total_bytes") if total is not None else ()
    cause = log_causes.cause("shared-memory-too-small")
    if cause is not None:
        summary = f"Shared memory (/dev/shm) ran out{f' ({gib(total)})' if total is not None else ''}."
        evidence = (*log_causes.evidence(cause), *size)
        return Finding(summary=summary, evidence=evidence, fix=repairs(context), severity=Severity.ERROR)
    if limits is None or container is None or used is None:
        return Skip("the size of /dev/shm, the container or the GPUs are unknown")
    if not container.inside or not used.used:
        return None
    if total is None:
        return Skip("the size of /dev/shm is not known")
    if total >= ENOUGH_BYTES:
        return None
    count = len(used.used)
    purpose = f"through which its {count} GPUs exchange gradients; NCCL needs"
    if count == 1:
        purpose = "data loader workers and training on several GPUs need"
    summary = (
        f"This container has {gib(total)} of shared memory (/dev/shm){',' if count > 1 else ';'} {purpose} at least"
        f" {gib(ENOUGH_BYTES)}."
    )
    together = any(on_gpu(run) and len(run.devices) > 1 for run in log_causes.outcomes.passed)
    severe = total <= TINY_BYTES and count > 1 and not together
    return Finding(
        summary=summary,
        evidence=(*size, *saw(container, "kind")),
        fix=repairs(context),
        severity=Severity.ERROR if severe else Severity.WARNING,
    )


def repairs(context: Context) -> Fixes:
    """Give the container, the pod or the machine more shared memory."""
    yield from at_start(
        context,
        "with more shared memory (or with --ipc=host: the host's)",
        docker="--shm-size=1g",
        pod="Mount an emptyDir volume with medium: Memory at /dev/shm in the pod's manifest",
    )
    if context.framework == "torch":
        yield Fix(text="Until then, load data without worker processes: DataLoader(num_workers=0)")
    if not context.in_container:
        yield Fix(text="Outside a container, increase its size as root", command="sudo mount -o remount,size=1G /dev/shm")
    yield Fix.look("Check the new size", "df -h /dev/shm")
