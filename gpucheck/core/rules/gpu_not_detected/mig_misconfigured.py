"""A GPU is in MIG mode, but has no instance that a program can use.

Symptom:
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    nvidia-smi shows the GPU with MIG M. Enabled, and "No MIG devices found"
Cause:
    In MIG mode (Multi-Instance GPU) programs can use a data-center GPU only through its instances. On Ampere GPUs the mode
    survives a restart, but the instances do not: the GPU is then unusable until they are created again.
Verify:
    nvidia-smi -L lists a MIG device below the GPU, or MIG M. is Disabled.
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

import re

from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.machine import restart
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_NAMED = r"\bGPU (\d{1,2}\b(?!:)|[\da-fA-F]{8}:[\da-fA-F]{2}:[\da-fA-F]{2}\.\d)"
_OF_KUBERNETES = r"(?i)MIG strategy|migEnabled"  # of its device plugin
_LABEL = Fix(
    text="Create the instances of this node with the GPU operator's MIG manager",
    command="kubectl label node NODE nvidia.com/mig.config=all-balanced --overwrite",
)
_SELECT = Fix(
    text="Select the first instance by its UUID; a program can use only one",
    command="export CUDA_VISIBLE_DEVICES=\"$(nvidia-smi -L | grep -o -m1 'MIG-[0-9a-f/-]*')\"",
)


@rule(scope=Scope.HOST, explains=(*WITHOUT_CUDA, "devices-hidden", "container-without-gpu"))
def check(container: Container, gpus: Gpus, cuda: Cuda, context: Context) -> Finding | Skip | None:
    """Report GPUs in MIG mode without an instance: an error if CUDA has no device, a warning if other GPUs work."""
    enabled = [(place, gpu) for place, gpu in enumerate(gpus.gpus) if gpu.mig_enabled]
    empty = [(place, gpu) for place, gpu in enabled if gpu.mig_devices == 0]
    if not empty:
        if not cuda.device_count and any(gpu.mig_devices is None for _, gpu in enabled):
            return Skip("the MIG instances could not be queried")
        return None
    if container.inside and cuda.device_count:
        return None  # it has an instance; others belong to other users
    names = [gpu.label for _, gpu in empty]
    indices = ",".join(str(gpu.index) for _, gpu in empty)
    verb, them = ("is", "it") if len(empty) == 1 else ("are", "them")
    fields = (f"gpus[{place}].{name}" for place, _ in empty for name in ("mig_enabled", "mig_devices"))
    return Finding(
        summary=f"{listing(names)} {verb} in MIG mode without any instance, so CUDA can't use {them}.",
        evidence=(*saw(gpus, *fields), *saw(cuda, "status", "device_count")),
        fix=repairs(context, indices=indices),
        affects=tuple(names),
        severity=Severity.WARNING if cuda.device_count else None,
    )


def repairs(context: Context, *, indices: str = "", message: str = "", shown: str = "") -> Fixes:
    """Create or select an instance, or leave MIG mode.

    Args:
        context: what is known about the machine.
        indices: indexes of the GPUs without an instance: "0,1"; empty if unknown.
        message: the message that reports it.
        shown: non-empty if the GPU has instances, but CUDA finds none.
    """
    named = re.search(_NAMED, message)
    indices = indices or (named[1] if named else "")
    only = f" -i {indices}" if indices else ""
    if "pending" in message.lower():
        yield from restart(context, "Restart the machine, which completes the mode change")
    elif "in use" in message.lower():
        mode = "1" if "enable" in message.lower() else "0"
        command = f"sudo systemctl stop nvidia-persistenced nvidia-dcgm; sudo nvidia-smi{only} -mig {mode}"
        yield Fix(
            text="End every program that uses the GPU, including the services that monitor it, then try again", command=command
        )
    elif re.search(_OF_KUBERNETES, message) or context.kinds["container"] == "kubernetes":
        yield _LABEL
    else:
        yield from (_SELECT,) if shown else ()
        create = f"sudo nvidia-smi mig{only} -cgi 0 -C"
        yield Fix(text="To use instances: create one; profile 0 is the largest", command=create)
        yield Fix(text="To use the whole GPU, disable MIG mode", command=f"sudo nvidia-smi{only} -mig 0")
    if "nsufficient" in message:
        yield Fix.look("List the profiles that still fit", "nvidia-smi mig -lgip")
    yield Fix.look("Show the mode and the instances", "nvidia-smi -L; sudo nvidia-smi mig -lgi")
