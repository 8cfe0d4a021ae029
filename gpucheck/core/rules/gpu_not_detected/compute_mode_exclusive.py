"""The GPU's compute mode does not let this process use the GPU.

Symptom:
    CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable
    cudaErrorDevicesUnavailable (46): all CUDA-capable devices are busy or unavailable
    RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable
Cause:
    In compute mode "prohibited", no program can use the GPU. In "exclusive process", only one process at a time can, and another
    process is already using it. Some clusters set exclusive mode on purpose; a display card is sometimes set to prohibited.
Verify:
    nvidia-smi --query-gpu=index,compute_mode --format=csv prints Default.
Unless:
    The GPU should not be used: hide it with CUDA_VISIBLE_DEVICES instead.
Example:
    gpus.gpus[0].compute_mode = "exclusive-process"
    gpus.gpus[0].processes = [{"pid": 4242, "memory_bytes": 1073741824, "name": "python3"}]
    training.runs[0].status = "failed"
    training.runs[0].reason = "all CUDA-capable devices are busy or unavailable"
    training.runs[1].status = "failed"
    training.runs[1].reason = "all CUDA-capable devices are busy or unavailable"
    -> GPU 0 allows only one process at a time (compute mode exclusive-process), and process 4242 (python3) is using it.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (Compute Modes)
"""

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat.cuda import results_of
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Level, Request, Scope, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import REQUEST_FROM_SLURM
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_REFUSALS = tuple(map(str, results_of("compute-mode-exclusive")))
_MPS_SERVER = "nvidia-cuda-mps"  # truncated by the kernel; with MPS, many programs share an exclusive GPU through this server


@rule(
    scope=Scope.HOST,
    explains=(*WITHOUT_CUDA, "gpu-memory-held-by-others", "nccl-failed", "training-crashed", "replica-count-mismatch"),
)
def check(
    request: Request, environment: Environment, gpus: Gpus, cuda: Cuda, outcomes: TrainingOutcomes, context: Context
) -> Finding | Skip | None:
    """Report a prohibited GPU, or an exclusive one in use or refused by CUDA; exclusive mode alone is a site's choice."""
    refused = _refused(cuda, outcomes)
    candidates = [
        (place, gpu)
        for place, gpu in _candidates(environment, gpus, cuda)
        if request.level is not Level.NODE
        or gpu.compute_mode == "prohibited"  # a job that uses its GPU is not a fault of the node
    ]
    unusable = [(place, gpu, why) for place, gpu in candidates if (why := _why_unusable(gpu, outcomes, refused))]
    if not unusable:
        if refused and any(gpu.compute_mode is None for gpu in gpus.gpus):
            return Skip("CUDA reports a GPU as unavailable, but its compute mode could not be read")
        return None
    indices = ",".join(str(gpu.index) for _, gpu, _ in unusable)
    fields = (f"gpus[{place}].{name}" for place, _, _ in unusable for name in ("compute_mode", "processes"))
    return Finding(
        summary=f"{listing([f'{gpu.label} {why}' for _, gpu, why in unusable])}.",
        evidence=(*saw(gpus, *fields), *refused),
        fix=repairs(context, mode=unusable[0][1].compute_mode or "", indices=indices, holder=_holder(unusable[0][1]) or ""),
        affects=tuple(gpu.label for _, gpu, _ in unusable),
    )


def _candidates(environment: Environment, gpus: Gpus, cuda: Cuda) -> list[tuple[int, Gpu]]:
    """Return the GPUs that the user selected for CUDA, else all: CUDA does not list a prohibited GPU."""
    visible = {device.pci_address for device in cuda.devices}
    chosen = "CUDA_VISIBLE_DEVICES" in environment.variables and bool(visible)
    return [(place, gpu) for place, gpu in enumerate(gpus.gpus) if not chosen or gpu.pci_address in visible]


def _why_unusable(gpu: Gpu, outcomes: TrainingOutcomes, refused: tuple[Evidence, ...]) -> str | None:
    """Return why a program can't use this GPU; None if it can."""
    if gpu.compute_mode == "prohibited":
        return "does not allow any program (compute mode prohibited)"
    if gpu.compute_mode not in ("exclusive-process", "exclusive-thread") or outcomes.trained_on_gpu():
        return None
    holder = _holder(gpu) or ("another one" if refused else None)
    return f"allows only one process at a time (compute mode {gpu.compute_mode}), and {holder} is using it" if holder else None


def _holder(gpu: Gpu) -> str | None:
    if not gpu.processes or any((process.name or "").startswith(_MPS_SERVER) for process in gpu.processes):
        return None
    process = gpu.processes[0]
    return f"process {process.pid}" + (f" ({process.name})" if process.name else "")


def _refused(cuda: Cuda, outcomes: TrainingOutcomes) -> tuple[Evidence, ...]:
    """Return the evidence that CUDA itself reported a device as unavailable."""
    if str(cuda.result) in _REFUSALS:
        return saw(cuda, "result_name")
    for place, event in enumerate(outcomes.events):
        if event.kind in ("cuda-error", "cuinit-failed") and event.fields.get("code") in _REFUSALS:
            return outcomes.saw_event(place)
    return ()


def repairs(context: Context, *, mode: str = "", indices: str = "", holder: str = "") -> Fixes:
    """Let this program use the GPU.

    Args:
        context: what is known about the machine.
        mode: the compute mode: "exclusive-process", "prohibited"; empty if unknown.
        indices: the GPUs' indexes: "0,1"; empty if unknown.
        holder: the process that uses the GPU; empty if unknown.
    """
    if context.scheduler == "slurm":
        yield REQUEST_FROM_SLURM
    only = f" -i {indices}" if indices else ""
    shared = Fix(
        text=f"Use the GPU from only one process{'' if mode else ', because it probably allows no more'}: end the others if they are yours,"
        " and open the GPU in one process of this program",
    )
    if not mode:
        yield shared
    text = "Allow all programs to use it again (until the driver is reloaded)"
    if context.windows:
        yield Fix(text=f"{text}, from an administrator's prompt", command=f"nvidia-smi{only} -c DEFAULT")
    else:
        yield Fix(text=text, command=f"sudo nvidia-smi{only} -c DEFAULT")
    if holder:
        yield Fix(text=f"Or wait until {holder} ends, or end it if it is yours")
    elif mode and mode != "prohibited":
        yield shared
    if not mode:
        yield Fix.look("If it is a virtual GPU (vGPU), show whether it has a license", "nvidia-smi -q | grep -i license")
    if mode != "prohibited":
        yield Fix.look("Show the compute mode and the processes that use it", f"nvidia-smi{only}")
