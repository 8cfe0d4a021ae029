"""The GPU's compute mode keeps this process out.

Symptom:
    CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable
    cudaErrorDevicesUnavailable (46): all CUDA-capable devices are busy or unavailable
    RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable
Cause:
    In the compute mode "prohibited" no program may use the GPU; in "exclusive process" only one at a time may, and another one
    has it. Some clusters set exclusive mode on purpose; a display card is sometimes set to prohibited.
Fix:
    1. See who uses it, and its mode; wait for that process or end it
       $ nvidia-smi
    2. Let every program in again (it lasts until the driver is reloaded)
       $ sudo nvidia-smi -c DEFAULT
Verify:
    nvidia-smi --query-gpu=index,compute_mode --format=csv says Default.
Unless:
    The GPU is meant to be left alone: hide it with CUDA_VISIBLE_DEVICES instead.
Example:
    gpus.gpus[0].compute_mode = "exclusive-process"
    gpus.gpus[0].processes = [{"pid": 4242, "memory_bytes": 1073741824, "name": "python3"}]
    training.runs[0].status = "failed"
    training.runs[0].reason = "all CUDA-capable devices are busy or unavailable"
    training.runs[1].status = "failed"
    training.runs[1].reason = "all CUDA-capable devices are busy or unavailable"
    -> GPU 0 lets in only one process at a time (compute mode exclusive-process), and process 4242 (python3) has it.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (Compute Modes)
"""

from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.environment import Environment
from gpucheck.probes.gpus import Gpu, Gpus
from gpucheck.probes.log import Log
from gpucheck.probes.training import Training
from gpucheck.rules._driver import WITHOUT_CUDA
from gpucheck.rules._training import trained_on_gpu
from gpucheck.rules._words import listing

_DEVICE_UNAVAILABLE = 46
_MPS_SERVER = "nvidia-cuda-mps"  # the kernel cuts its name; exclusive mode with MPS: many programs share it through the server


@rule(
    severity=Severity.ERROR,
    scope=Scope.HOST,
    explains=(*WITHOUT_CUDA, "gpu-memory-held-by-others", "nccl-failed", "training-crashed", "replica-count-mismatch"),
)
def check(
    environment: Environment,
    gpus: Gpus,
    cuda: Cuda,
    log: Log | None,
    training: Training | None,
) -> Finding | Skip | None:
    """Exclusive mode alone is a site's choice; it is a fault where somebody else is in, or CUDA was refused."""
    refused = _refused(cuda, log)
    chosen = "CUDA_VISIBLE_DEVICES" in environment.variables and bool(cuda.devices)
    visible = {device.pci_address for device in cuda.devices}
    found: list[tuple[int, Gpu, str]] = []
    for place, gpu in enumerate(gpus.gpus):
        if chosen and gpu.pci_address not in visible:
            continue
        if gpu.compute_mode == "prohibited":
            found.append((place, gpu, f"GPU {gpu.index} lets no program in (compute mode prohibited)"))
        elif gpu.compute_mode in ("exclusive-process", "exclusive-thread") and not trained_on_gpu(training):
            holder = _holder(gpu)
            if holder or refused:
                has_it = f"{holder} has it" if holder else "another one has it"
                found.append(
                    (
                        place,
                        gpu,
                        f"GPU {gpu.index} lets in only one process at a time (compute mode {gpu.compute_mode}), and {has_it}",
                    )
                )
    if not found:
        if refused and any(gpu.compute_mode is None for gpu in gpus.gpus):
            return Skip("CUDA calls a GPU unavailable, and its compute mode could not be read")
        return None
    indices = ",".join(str(gpu.index) for _, gpu, _ in found)
    return Finding(
        summary=f"{listing([text for _, _, text in found])}.",
        evidence=(
            *(item for place, _, _ in found for item in saw(gpus, f"gpus[{place}].compute_mode", f"gpus[{place}].processes")),
            *refused,
        ),
        fix=(
            Fix(text="See who uses it, and wait for that or end it", command=f"nvidia-smi -i {indices}"),
            Fix(
                text="Let every program in again, until the driver is reloaded",
                command=f"sudo nvidia-smi -i {indices} -c DEFAULT",
            ),
        ),
        affects=tuple(f"GPU {gpu.index}" for _, gpu, _ in found),
    )


def _holder(gpu: Gpu) -> str | None:
    if any((process.name or "").startswith(_MPS_SERVER) for process in gpu.processes):
        return None
    for process in gpu.processes:
        return f"process {process.pid}" + (f" ({process.name})" if process.name else "")
    return None


def _refused(cuda: Cuda, log: Log | None) -> tuple[Evidence, ...]:
    """Where CUDA itself said that a device is unavailable."""
    if cuda.result == _DEVICE_UNAVAILABLE:
        return saw(cuda, "result_name")
    for place, event in enumerate(log.events if log is not None else ()):
        if event.kind in ("cuda-error", "cuinit-failed") and event.fields.get("code") == str(_DEVICE_UNAVAILABLE):
            return saw(log, f"events[{place}].text") if log is not None else ()
    return ()
