"""Another process uses the memory of a GPU that this process should train on.

Symptom:
    failed to allocate 7.43G (7983005696 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory
    failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED
    - nvidia-smi shows most of the memory in use before the job has started.
    failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory
    - GPU 0 has a total capacity of 23.69 GiB of which 1.06 MiB is free. Process 4242 has 20.31 GiB memory in use.
Cause:
    TensorFlow takes nearly all memory of every GPU it sees and keeps it until its process ends. A notebook whose kernel is still
    running, a job that did not exit, or another user of a shared machine can leave nothing for the next process. Memory growth
    (TF_FORCE_GPU_ALLOW_GROWTH) only limits what a process takes itself. It frees nothing that others hold.
Verify:
    $ nvidia-smi --query-gpu=index,memory.free --format=csv
Unless:
    The GPU is shared on purpose and the rest of its memory is enough for your job.
Example:
    gpus.gpus[0].memory_free_bytes = 966367641
    gpus.gpus[0].memory_used_bytes = 149143512678
    gpus.gpus[0].processes = [{"pid": 4242, "memory_bytes": 149143512678, "name": "python3"}]
    training.runs[0].status = "skipped"
    training.runs[0].reason = "0.9 GiB of GPU memory are free"
    training.runs[1].status = "skipped"
    training.runs[1].reason = "0.9 GiB of GPU memory are free"
    -> python3 (pid 4242) uses 138.9 of the 140.4 GiB of GPU 0 (NVIDIA H200); the remaining 922 MiB are too little to train.
References:
    https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    https://docs.nvidia.com/deploy/nvidia-smi/index.html
"""

import msgspec

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.model import JOB_BYTES, Evidence, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import gib
from gpucheck.core.probes.gpus import Gpu, GpuProcess, Gpus
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import HOLDERS, disable_preallocation


class Held(msgspec.Struct, frozen=True):
    """A GPU whose memory is partly used by other processes."""

    gpu: Gpu
    place: int
    total_bytes: int
    free_bytes: int
    others_bytes: int
    starved: bool

    @property
    def others(self) -> list[GpuProcess]:
        """The other processes on the GPU, largest first."""
        return sorted(self.gpu.processes, key=lambda process: process.memory_bytes or 0, reverse=True)


@rule(
    scope=Scope.HOST,
    explains=("gpu-memory-exhausted", "cublas-init-failed", "cudnn-init-failed"),
    jobs=True,
    first_check="nvidia-smi",
)
def check(used: GpusInUse, outcomes: TrainingOutcomes, context: Context) -> Finding | Skip | None:
    """Report GPUs with too little free memory to start, or more than half used by processes other than gpucheck."""
    measured = [held for place, gpu in used.used if (held := _held(place, gpu)) is not None]
    crowded = [held for held in measured if held.starved or 2 * held.others_bytes > held.total_bytes]
    if not crowded:
        return None if measured or not used.used else Skip("the driver does not report how much GPU memory is in use")
    worst = min(crowded, key=lambda held: (not held.starved, held.free_bytes))
    trained = {device for run in outcomes.passed for device in run.devices}
    blocked = any(held.starved and used.device_name(held.gpu) not in trained for held in crowded)
    idle = [held for held in measured if held not in crowded and held.gpu.uuid]
    free = max(idle, key=lambda held: held.free_bytes, default=None)
    return Finding(
        summary=_summary(worst, len(crowded), len(used.used), blocked),
        evidence=tuple(item for held in crowded for item in _evidence(used.gpus, held)),
        fix=repairs(
            context,
            pids=",".join(str(process.pid) for process in worst.others),
            free_gpu=f"{free.gpu.label}, which has {gib(free.free_bytes)} free" if free else "",
            free_uuid=free.gpu.uuid or "" if free else "",
            starved="yes" if worst.starved else "",
            crowded=free is None,
        ),
        affects=tuple(held.gpu.label for held in crowded),
        severity=Severity.ERROR if blocked else Severity.WARNING,
    )


def _held(place: int, gpu: Gpu) -> Held | None:
    total, free = gpu.memory_total_bytes, gpu.memory_free_bytes
    if total is None or free is None or gpu.mig_enabled:  # under MIG, these are values of the whole board, not of this instance
        return None
    used = gpu.memory_used_bytes if gpu.memory_used_bytes is not None else total - free
    return Held(gpu, place, total, free, used, starved=free < JOB_BYTES and 4 * used > total)


def _summary(held: Held, crowded: int, used: int, blocked: bool) -> str:
    size = f"{held.others_bytes / (1 << 30):.1f} of the {gib(held.total_bytes)} of {held.gpu.title}"
    free = gib(held.free_bytes)
    rest = f"; the remaining {free} are too little to train" if blocked else f", which leaves {free} for training"
    more = f"; {crowded} of {used} GPUs are affected" if crowded > 1 else ""
    return f"{_holder(held)} {size}{rest}{more}."


def _holder(held: Held) -> str:
    others = held.others
    accounted = sum(process.memory_bytes or 0 for process in others)
    complete = all(process.memory_bytes is not None for process in others)
    if not others or (complete and 2 * accounted < held.others_bytes):
        return "A process that is not visible from here uses"
    first = f"{others[0].name} (pid {others[0].pid})" if others[0].name else f"Process {others[0].pid}"
    if len(others) == 1:
        return f"{first} uses"
    return f"{first} and {len(others) - 1} more {'processes' if len(others) > 2 else 'process'} use"


def _evidence(gpus: Gpus, held: Held) -> tuple[Evidence, ...]:
    names = ("memory_total_bytes", "memory_free_bytes", *(("processes",) if held.gpu.processes else ()))
    return saw(gpus, *(f"gpus[{held.place}].{name}" for name in names))


def repairs(
    context: Context, *, pids: str = "", free_gpu: str = "", free_uuid: str = "", starved: str = "", crowded: bool = False
) -> Fixes:
    """Free the memory, or use another GPU.

    Args:
        context: what is known about the machine.
        pids: the IDs of the processes that hold the memory: "4242,4243"; in a container, the host's.
        free_gpu: the description of another GPU.
        free_uuid: its UUID, for CUDA_VISIBLE_DEVICES.
        starved: not empty if too little is free to share.
        crowded: whether no other GPU is free.
    """
    if free_uuid:
        yield Fix(text=f"Train on {free_gpu}", command=f"export CUDA_VISIBLE_DEVICES={free_uuid}")
    kernel = "for a notebook, shut down its kernel"
    outside = "on the host, " if context.in_container and not context.notebook else ""
    if pids:
        kill = f"taskkill /PID {pids.replace(',', ' /PID ')}" if context.windows else f"kill {pids.replace(',', ' ')}"
        text = f"{outside}check who owns process {pids.replace(',', ', ')}, and end it if it is yours ({kernel}): {kill}"
    else:
        text = f"{outside}end the processes on this GPU that are yours ({kernel})"
    yield Fix(text=text[0].upper() + text[1:])
    if not (free_uuid or crowded or context.notebook):
        yield Fix(text="Or train on a GPU that is free: export CUDA_VISIBLE_DEVICES=INDEX")
    if not starved:
        yield from disable_preallocation(context, "If processes share this GPU on purpose, set this for each of them")
    yield from _looks(context, pids, outside)


def _looks(context: Context, pids: str, outside: str) -> Fixes:
    if pids and not context.windows:
        text = f"{outside}check who owns the process"
        yield Fix.look(text[0].upper() + text[1:], f"ps -o pid,user,etime,args -p {pids}")
    elif not pids:
        yield HOLDERS
        hidden = Fix.look("Find processes on the GPU that nvidia-smi does not list", "sudo fuser -v /dev/nvidia*")
        yield from context.only(hidden, system="linux")
