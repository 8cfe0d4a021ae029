"""A GPU is in MIG mode, but has no instance that a program can use.

Symptom:
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    nvidia-smi shows the GPU with MIG M. Enabled, and "No MIG devices found"
Cause:
    In MIG mode (Multi-Instance GPU) programs can use a data-center GPU only through its instances. On Ampere GPUs the mode
    survives a restart, but the instances do not: the GPU is then unusable until they are created again.
Fix:
    1. Show the mode and the instances
       ? nvidia-smi -L; sudo nvidia-smi mig -lgi
    2. To use instances, create at least one on GPU 0; profile 0 is the largest
       $ sudo nvidia-smi mig -i 0 -cgi 0 -C
    3. Select the first one by its UUID; a program can use only one (container: docker run --gpus device=UUID)
       $ export CUDA_VISIBLE_DEVICES="$(nvidia-smi -L | grep -o -m1 'MIG-[0-9a-f/-]*')"
       needs: network
    4. To use the GPU whole, leave MIG mode
       $ sudo nvidia-smi -i 0 -mig 0
Verify:
    nvidia-smi -L lists a MIG device below the GPU, or MIG M. says Disabled.
Unless:
    A scheduler (such as NVIDIA's MIG manager in Kubernetes) creates instances when a job requests them.
Example:
    gpus.gpus[0].mig_enabled = true
    gpus.gpus[0].mig_devices = 0
    cuda = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> GPU 0 is in MIG mode without any instance, so CUDA can't use it.
References:
    https://docs.nvidia.com/datacenter/tesla/mig-user-guide/
"""

from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.repairs.wording import listing
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=(*WITHOUT_CUDA, "devices-hidden", "container-without-gpu"))
def check(container: Container, gpus: Gpus, cuda: Cuda) -> Finding | Skip | None:
    """Error where CUDA has nothing at all; a warning where other GPUs of the machine still work."""
    enabled = [(place, gpu) for place, gpu in enumerate(gpus.gpus) if gpu.mig_enabled]
    empty = [(place, gpu) for place, gpu in enabled if gpu.mig_devices == 0]
    if not empty:
        if not cuda.device_count and any(gpu.mig_devices is None for _, gpu in enabled):
            return Skip("the MIG instances could not be queried")
        return None
    if container.inside and cuda.device_count:
        return None  # it was given some instance; the rest is not its own
    names = [gpu.label for _, gpu in empty]
    indices = ",".join(str(gpu.index) for _, gpu in empty)
    verb, them = ("is", "it") if len(empty) == 1 else ("are", "them")
    outside = " on the machine that runs this container" if container.inside else ""
    fields = (f"gpus[{place}].{name}" for place, _ in empty for name in ("mig_enabled", "mig_devices"))
    return Finding(
        summary=f"{listing(names)} {verb} in MIG mode without any instance, so CUDA can't use {them}.",
        evidence=(*saw(gpus, *fields), *saw(cuda, "status", "device_count")),
        fix=(
            Fix(text=f"To use the GPU whole, leave MIG mode{outside}", command=f"sudo nvidia-smi -i {indices} -mig 0"),
            Fix(
                text=f"Or create an instance{outside}; profile 0 is the largest",
                command=f"sudo nvidia-smi mig -i {indices} -cgi 0 -C",
            ),
        ),
        affects=tuple(names),
        severity=Severity.WARNING if cuda.device_count else None,
    )
