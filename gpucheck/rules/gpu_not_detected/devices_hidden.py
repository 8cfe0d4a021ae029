"""A GPU is here and works, and an environment variable hides it from CUDA.

Symptom:
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    CUDA_VISIBLE_DEVICES is set to -1 - this hides all GPUs from CUDA
    nvidia-smi shows the GPU, and tf.config.list_physical_devices("GPU") returns []
Cause:
    CUDA offers a program only the GPUs that CUDA_VISIBLE_DEVICES names, reads the list up to the first entry that it can't
    match, and ignores the rest. So an empty value, -1, a number beyond the last GPU, or the UUID of another GPU (or of a MIG
    instance that was made anew) hides everything behind it. nvidia-smi takes no notice of the variable. In a container,
    NVIDIA_VISIBLE_DEVICES=none passes the driver in and leaves the GPUs out.
Fix:
    1. See what hides them, and which GPUs there are
       $ env | grep VISIBLE_DEVICES; nvidia-smi -L
    2. Let CUDA see every GPU (look in ~/.bashrc, the job script, os.environ in the program and the image's ENV, too)
       $ unset CUDA_VISIBLE_DEVICES
    3. Slurm: ask for a GPU when starting the job; Slurm sets the variable itself
       $ srun --gres=gpu:1 nvidia-smi -L
    4. In a container: start it with --gpus all, and see that /dev/nvidia0 is in it
       $ ls -l /dev/nvidia*
Verify:
    nvidia-smi -L lists what may be named, and gpucheck --quick finds nothing.
Unless:
    The GPUs are hidden on purpose, to train on the CPU: say so with --allow-cpu.
Example:
    environment.variables = {"CUDA_VISIBLE_DEVICES": "-1"}
    cuda = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> CUDA_VISIBLE_DEVICES=-1 hides every GPU from CUDA: the driver sees 1, a program gets none.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (CUDA Environment Variables)
"""

from gpucheck.compat.cuda import HIDES_ALL
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.device_nodes import DeviceNodes
from gpucheck.probes.driver import Driver
from gpucheck.probes.environment import Environment
from gpucheck.probes.gpus import Gpus
from gpucheck.rules._driver import WITHOUT_CUDA

_NO_DEVICE = (100, 101)


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=(*WITHOUT_CUDA, "replica-count-mismatch"))
def check(
    request: Request,
    container: Container,
    environment: Environment,
    device_nodes: DeviceNodes,
    driver: Driver,
    gpus: Gpus,
    cuda: Cuda,
) -> Finding | Skip | None:
    """The driver counts GPUs that CUDA, told to look at some of them only, does not find."""
    none = cuda.result in _NO_DEVICE or (cuda.status == "ok" and cuda.device_count == 0)
    if not none and not cuda.device_count:
        return None
    value = environment.variables.get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return _left_out(request, container, device_nodes, cuda) if none else None
    entries = [entry.strip() for entry in value.split(",")]
    if (cuda.device_count or 0) >= len(entries):
        return None
    hides_all = entries[0] in HIDES_ALL
    if not driver.gpu_count and not (hides_all and none and _openable(device_nodes)):
        return None  # nothing says that there is a GPU to hide
    usable = 0 if hides_all else _usable(entries, gpus, driver.gpu_count or 0)
    if usable is None:
        return Skip("which GPUs the driver has could not be compared with CUDA_VISIBLE_DEVICES")
    if usable == len(entries) or usable != (cuda.device_count or 0):
        return None  # every entry is good, or CUDA found more or fewer than the entries account for
    wrong = entries[usable]
    shown = f"CUDA_VISIBLE_DEVICES={value}" if value else "CUDA_VISIBLE_DEVICES, set to nothing,"
    seen = f"the driver sees {driver.gpu_count}" if driver.gpu_count else "the device files are there"
    if none and hides_all:
        summary = f"{shown} hides every GPU from CUDA: {seen}, a program gets none."
    elif none:
        summary = f"{shown} hides every GPU from CUDA: no GPU here is called {wrong}, and {seen}."
    else:
        summary = f"{shown} names {len(entries)} GPUs, and CUDA stops at {wrong}, which is not here: a program gets {usable}."
    return Finding(
        summary=summary,
        evidence=(
            *saw(environment, "variables.CUDA_VISIBLE_DEVICES"),
            *saw(driver, "gpu_count"),
            *saw(cuda, "status", "result_name", "device_count"),
        ),
        fix=_fixes(request, environment),
        severity=Severity.WARNING if not (request.needs_gpu and none) else None,
    )


def _usable(entries: list[str], gpus: Gpus, count: int) -> int | None:
    """How many entries CUDA accepts before the first that it cannot match; None where their names are not known."""
    for place, entry in enumerate(entries):
        if entry.isdecimal():
            if any(gpu.mig_enabled for gpu in gpus.gpus):
                return None  # numbers then count MIG instances
            found = int(entry) < count
        elif entry.startswith("GPU-"):
            uuids = [gpu.uuid for gpu in gpus.gpus]
            if not uuids or None in uuids:
                return None
            found = any(uuid is not None and uuid.startswith(entry) for uuid in uuids)
        elif entry.startswith("MIG-"):
            if not any(gpu.mig_devices for gpu in gpus.gpus):
                return None  # no instance at all: mig-misconfigured
            found = False
        else:
            found = False
        if not found:
            return place
    return len(entries)


def _openable(device_nodes: DeviceNodes) -> bool:
    return device_nodes.control.openable is True and any(node.openable for node in device_nodes.gpus)


def _left_out(request: Request, container: Container, device_nodes: DeviceNodes, cuda: Cuda) -> Finding | None:
    """NVIDIA_VISIBLE_DEVICES=none: the runtime passed the driver in, and no GPU."""
    if not container.inside or container.nvidia_visible_devices != "none":
        return None
    if not device_nodes.control.present or any(node.present for node in device_nodes.gpus):
        return None
    return Finding(
        summary="NVIDIA_VISIBLE_DEVICES=none keeps every GPU out of this container; the driver itself was passed in.",
        evidence=(
            *saw(container, "nvidia_visible_devices"),
            *saw(device_nodes, "control.present", "gpus"),
            *saw(cuda, "status", "result_name"),
        ),
        fix=(Fix(text="Start the container with NVIDIA_VISIBLE_DEVICES=all, or with --gpus all and the variable left out"),),
        severity=None if request.needs_gpu else Severity.WARNING,
    )


def _fixes(request: Request, environment: Environment) -> tuple[Fix, ...]:
    unset = Fix(text="Let CUDA see every GPU", command="unset CUDA_VISIBLE_DEVICES")
    names = Fix(text="Or name GPUs that are here, by number from 0 or by UUID", command="nvidia-smi -L")
    if "SLURM_JOB_ID" in environment.variables:
        return (Fix(text="Ask Slurm for a GPU when starting the job", command="srun --gres=gpu:1 nvidia-smi -L"), unset)
    cpu = Fix(text="If training on the CPU is what you want, say so", command="gpucheck --allow-cpu")
    return (unset, names, cpu) if request.needs_gpu else (unset, names)
