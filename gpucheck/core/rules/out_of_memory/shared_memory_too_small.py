"""Shared memory (/dev/shm), through which processes and NCCL pass data, is smaller than several GPUs or data workers need.

Symptom:
    ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
    NCCL WARN Error while creating shared memory segment /dev/shm/nccl-
    The SHMEM allocation limit is set to the default of 64MB.
Cause:
    Docker gives a container 64 MB of shared memory unless told otherwise, Kubernetes likewise. NCCL puts its buffers between
    GPUs there, and data workers in processes of their own hand their batches over through it. A write past its end is SIGBUS.
Fix:
    1. Docker: start the container with more (or with --ipc=host, which shares the host's)
       $ docker run --shm-size=1g IMAGE
    2. Kubernetes: mount an emptyDir volume with medium: Memory at /dev/shm
    3. Look at it afterwards
       ? df -h /dev/shm
Verify:
    $ df -h /dev/shm
Unless:
    One process trains on one GPU with tf.data: then nothing is passed through shared memory.
Example:
    limits.shared_memory_total_bytes = 67108864
    limits.shared_memory_free_bytes = 67108864
    -> This container has 64 MiB of shared memory (/dev/shm); data workers and training on several GPUs need 512 MiB and more.
References:
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory
    https://docs.docker.com/reference/cli/docker/container/run/
"""

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.resources import Resources
from gpucheck.core.combiners.training_outcomes import on_gpu
from gpucheck.core.engine.plugin import rule
from gpucheck.core.model import Evidence, Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.repairs.wording import gib

ENOUGH_BYTES = 512 << 20
TINY_BYTES = 64 << 20  # Docker's default


@rule(severity=Severity.WARNING, scope=Scope.HOST, explains=("nccl-failed",))
def check(resources: Resources, used: GpusInUse | None, log_causes: LogCauses) -> Finding | Skip | None:
    """Small in a container with a GPU; tiny with several that have not trained together; or already run over."""
    limits, container = resources.limits, resources.container
    total = limits.shared_memory_total_bytes if limits is not None else None
    size = saw(limits, "shared_memory_total_bytes") if limits is not None and total is not None else ()
    cause = log_causes.alarm("shared-memory-too-small")
    if cause is not None:
        summary = f"Shared memory (/dev/shm) ran out{f' ({gib(total)})' if total is not None else ''}."
        return _finding(summary, (*log_causes.evidence(cause), *size), resources, Severity.ERROR)
    if limits is None or container is None or used is None:
        return Skip("the size of /dev/shm, the container or the GPUs are not known")
    if not container.inside or not used.used:
        return None
    if total is None:
        return Skip("the size of /dev/shm is not known")
    if total >= ENOUGH_BYTES:
        return None
    count = len(used.used)
    purpose = f"through which its {count} GPUs exchange gradients; NCCL needs"
    if count == 1:
        purpose = "data workers and training on several GPUs need"
    summary = (
        f"This container has {gib(total)} of shared memory (/dev/shm){',' if count > 1 else ';'} {purpose} {gib(ENOUGH_BYTES)} and"
        " more."
    )
    together = any(on_gpu(run) and len(run.devices) > 1 for run in log_causes.outcomes.passed)
    severe = total <= TINY_BYTES and count > 1 and not together
    severity = Severity.ERROR if severe else Severity.WARNING
    return _finding(summary, (*size, *saw(container, "kind")), resources, severity)


def _finding(summary: str, evidence: tuple[Evidence, ...], resources: Resources, severity: Severity) -> Finding:
    docker = "Start the container with more: docker run --shm-size=1g ... (or --ipc=host)"
    pod = "Mount an emptyDir with medium: Memory at /dev/shm in the pod's manifest"
    host = Fix(text="Make it larger, as root", command="sudo mount -o remount,size=1G /dev/shm")
    unknown = resources.container is None
    fixes = (Fix(text=docker, needs=("network",)), Fix(text=pod)) if unknown else (resources.more(pod, docker, host),)
    return Finding(
        summary=summary,
        evidence=evidence,
        fix=(*fixes, Fix(text="Look at it afterwards", command="df -h /dev/shm", kind="look")),
        severity=severity,
    )
