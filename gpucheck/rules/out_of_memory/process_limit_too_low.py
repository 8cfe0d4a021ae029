"""A limit of the operating system on this process (address space, threads, open files) is below what training needs.

Symptom:
    terminate called after throwing an instance of 'std::bad_alloc'
    pthread_create failed: Resource temporarily unavailable
    OSError: [Errno 24] Too many open files
    cuInit returns CUDA_ERROR_OUT_OF_MEMORY (2) or CUDA_ERROR_OPERATING_SYSTEM (304) on a machine with free memory
Cause:
    CUDA reserves virtual addresses for the memory of every GPU at once, so ulimit -v must exceed their sum although nothing of
    it is used. TensorFlow starts several threads per processor, each of which counts against ulimit -u and the container's
    pids limit. NCCL and data pipelines hold many files open.
Fix:
    1. ulimit -v unlimited; ulimit -u 65535; ulimit -n 65535 in the shell or job script that starts training
    2. docker run --pids-limit -1 --ulimit nofile=65535 ...
    3. If the shell refuses: the hard limit is set in /etc/security/limits.conf or by the batch system.
Verify:
    ulimit -v -u -n
Unless:
    Training passed under these limits.
Example:
    limits.address_space_bytes = 68719476736
    training.runs = []
    training.ending = "killed by SIGABRT"
    training.stage = "first step"
    -> The limit on this process' address space (ulimit -v) is 64.0 GiB, and CUDA reserves addresses for all 140.4 GiB of GPU memory.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/#unified-virtual-address-space
    https://docs.docker.com/reference/cli/docker/container/run/
"""

from typing import NamedTuple

from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.plugin import rule
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.limits import Limits
from gpucheck.probes.log import Log
from gpucheck.probes.system import System
from gpucheck.probes.training import Training
from gpucheck.rules._gpus import gpus_in_use
from gpucheck.rules._training import alarms, on_gpu, passed
from gpucheck.rules._words import gib

SPACE_BESIDE_GPUS_BYTES = 8 << 30  # TensorFlow's libraries, its threads' stacks and malloc's arenas
SPACE_WITHOUT_GPU_BYTES = 4 << 30
THREADS, THREADS_PER_PROCESSOR = 64, 4  # two pools of one thread per processor in TensorFlow, one each in Eigen and OpenMP
FILES = 128

# What a log says of a limit that was reached, and the command that raises it.
_TOLD = {
    "thread-limit": (
        "A limit on threads or processes was reached: the system refused to start another thread.",
        "ulimit -u $(ulimit -H -u)",
    ),
    "open-files-limit": (
        "The limit on open files was reached: the system refused to open another one.",
        "ulimit -n $(ulimit -H -n)",
    ),
    "locked-memory-limit": (
        "The limit on locked memory is too low for transfers between GPUs and the network.",
        "ulimit -l unlimited",
    ),
}


class Shortage(NamedTuple):
    """One limit that is too low; fatal: training can't work under it."""

    summary: str
    evidence: tuple[Evidence, ...]
    command: str
    fatal: bool


@rule(
    severity=Severity.ERROR,
    scope=Scope.HOST,
    explains=("cuda-init-failed", "tensorflow-import-failed", "training-failed", "training-crashed"),
)
def check(
    limits: Limits | None,
    gpus: Gpus | None,
    cuda: Cuda | None,
    system: System | None,
    training: Training | None,
    log: Log | None,
) -> Finding | Skip | None:
    """The first of address space, threads and open files that does not suffice, unless training has shown that it does."""
    lines = alarms(training, log, *_TOLD)
    if log is not None and lines:
        place, event = lines[0]
        summary, command = _TOLD[event.kind]
        return _finding(Shortage(summary, saw(log, f"events[{place}].text"), command, event.kind != "locked-memory-limit"))
    if limits is None:
        return Skip("the limits of this process are not known")
    trained = passed(training)
    if (gpus is None or not gpus.gpus) and trained:
        return None
    if any(on_gpu(run) for run in trained):
        return None
    shortage = _address_space(limits, gpus, cuda) or _threads(limits, system) or _files(limits)
    return _finding(shortage) if shortage is not None else None


def _address_space(limits: Limits, gpus: Gpus | None, cuda: Cuda | None) -> Shortage | None:
    space = limits.address_space_bytes
    if space is None:
        return None
    used = gpus_in_use(gpus, cuda) if gpus is not None else []
    memory = sum(gpu.memory_total_bytes or 0 for _, gpu in used)
    if space >= (memory + SPACE_BESIDE_GPUS_BYTES if memory else SPACE_WITHOUT_GPU_BYTES):
        return None
    why = (
        f"CUDA reserves addresses for all {gib(memory)} of GPU memory"
        if memory
        else f"TensorFlow maps about {gib(SPACE_WITHOUT_GPU_BYTES)}"
    )
    evidence = saw(limits, "address_space_bytes")
    if gpus is not None and memory:
        evidence = (*evidence, *saw(gpus, *(f"gpus[{place}].memory_total_bytes" for place, _ in used[:1])))
    return Shortage(
        f"The limit on this process' address space (ulimit -v) is {gib(space)}, and {why}.",
        evidence,
        "ulimit -v unlimited",
        True,
    )


def _threads(limits: Limits, system: System | None) -> Shortage | None:
    needed = THREADS + THREADS_PER_PROCESSOR * (limits.cpu_affinity_count or limits.cpu_count or 1)
    group, user = limits.processes_cgroup, limits.processes
    if group is not None and group < needed:
        return Shortage(
            f"This container or job may run {group} threads and processes (pids.max), and TensorFlow starts up to {needed}"
            " on this machine.",
            saw(limits, "processes_cgroup", "cpu_affinity_count"),
            "cat /sys/fs/cgroup/pids.max",
            group < THREADS,
        )
    # Root is exempt from RLIMIT_NPROC; the others share it with whatever else runs under their name.
    if user is not None and user < needed and not (system is not None and system.is_root):
        return Shortage(
            f"This user may run {user} threads and processes (ulimit -u), and TensorFlow starts up to {needed} on this machine.",
            saw(limits, "processes", "cpu_affinity_count"),
            "ulimit -u $(ulimit -H -u)",
            user < THREADS,
        )
    return None


def _files(limits: Limits) -> Shortage | None:
    if limits.open_files is None or limits.open_files >= FILES:
        return None
    return Shortage(
        f"This process may hold {limits.open_files} files open (ulimit -n), too few for TensorFlow, its data files and NCCL.",
        saw(limits, "open_files"),
        "ulimit -n $(ulimit -H -n)",
        False,
    )


def _finding(shortage: Shortage) -> Finding:
    return Finding(
        summary=shortage.summary,
        evidence=shortage.evidence,
        fix=(
            Fix(text="Raise or look at it in the shell or job script that starts training", command=shortage.command),
            Fix(text="In a container: docker run --pids-limit -1 --ulimit nofile=65535 --ulimit nproc=65535 ..."),
            Fix(text="If the shell refuses, an administrator sets it in /etc/security/limits.conf or the batch system"),
        ),
        severity=Severity.ERROR if shortage.fatal else Severity.WARNING,
    )
