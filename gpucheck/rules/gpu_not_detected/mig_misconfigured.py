"""A GPU is in MIG mode and has no instance that a program could use.

Symptom:
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    nvidia-smi shows the GPU with MIG M. Enabled, and "No MIG devices found"
Cause:
    In MIG mode (Multi-Instance GPU) a data-center GPU is used only through instances cut from it. The mode outlives a restart,
    the instances do not: after one, the GPU is there and offers nothing until they are made again.
Fix:
    1. To use the GPU whole: sudo nvidia-smi -i 0 -mig 0
    2. To use instances, make at least one; profile 0 is the largest: sudo nvidia-smi mig -i 0 -cgi 0 -C
Verify:
    nvidia-smi -L lists a MIG device below the GPU, or MIG M. says Disabled.
Unless:
    A scheduler (such as NVIDIA's MIG manager in Kubernetes) makes the instances when a job asks for them.
Example:
    gpus.gpus[0].mig_enabled = true
    gpus.gpus[0].mig_devices = 0
    cuda = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> GPU 0 is in MIG mode without any instance, so CUDA gets nothing of it.
References:
    https://docs.nvidia.com/datacenter/tesla/mig-user-guide/
"""

from gpucheck.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.plugin import rule
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.log import Log
from gpucheck.rules._driver import WITHOUT_CUDA
from gpucheck.rules._log import cite
from gpucheck.rules._start import ending, unserved
from gpucheck.rules._words import listing, short


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=(*WITHOUT_CUDA, "devices-hidden", "container-without-gpu"))
def check(container: Container, gpus: Gpus, cuda: Cuda) -> Finding | Skip | None:
    """Error where CUDA has nothing at all; a warning where other GPUs of the machine still work."""
    enabled = [(place, gpu) for place, gpu in enumerate(gpus.gpus) if gpu.mig_enabled]
    empty = [(place, gpu) for place, gpu in enabled if gpu.mig_devices == 0]
    if not empty:
        if not cuda.device_count and any(gpu.mig_devices is None for _, gpu in enabled):
            return Skip("how many MIG instances there are could not be asked")
        return None
    if container.inside and cuda.device_count:
        return None  # it was given some instance; the rest is not its own
    names = [f"GPU {gpu.index}" for _, gpu in empty]
    indices = ",".join(str(gpu.index) for _, gpu in empty)
    verb, them = ("is", "it") if len(empty) == 1 else ("are", "them")
    outside = " on the machine that runs this container" if container.inside else ""
    return Finding(
        summary=f"{listing(names)} {verb} in MIG mode without any instance, so CUDA gets nothing of {them}.",
        evidence=(
            *(item for place, _ in empty for item in saw(gpus, f"gpus[{place}].mig_enabled", f"gpus[{place}].mig_devices")),
            *saw(cuda, "status", "device_count"),
        ),
        fix=(
            Fix(text=f"To use the GPU whole, leave MIG mode{outside}", command=f"sudo nvidia-smi -i {indices} -mig 0"),
            Fix(
                text=f"Or make an instance{outside}; profile 0 is the largest",
                command=f"sudo nvidia-smi mig -i {indices} -cgi 0 -C",
            ),
        ),
        affects=tuple(names),
        severity=Severity.WARNING if cuda.device_count else None,
    )


def in_log(log: Log) -> Finding | None:
    """The words of nvidia-smi, the device plugin or the container toolkit about instances that are not there."""
    told = unserved(log, "mig-failed")
    if not told:
        return _without_part(log)
    return Finding(
        summary=f"MIG is on without an instance that could be used: {short(told[0].fields.get('message', told[0].text))}.",
        evidence=cite(*told),
        fix=(
            Fix(text="See the mode and the instances", command="nvidia-smi -L; sudo nvidia-smi mig -lgi"),
            Fix(text="To use the GPUs whole, leave MIG mode", command="sudo nvidia-smi -mig 0"),
            Fix(text="Or make an instance on GPU 0; profile 0 is the largest", command="sudo nvidia-smi mig -i 0 -cgi 0 -C"),
        ),
    )


def _without_part(log: Log) -> Finding | None:
    """A GPU that is shown to be in MIG mode, and CUDA that has no device, where no variable hides one."""
    end, shown = ending(log), unserved(log, "mig-shown")
    if end is None or end.code != "devices-hidden" or not shown or unserved(log, "devices-hidden"):
        return None
    return Finding(
        summary="The GPU is in MIG mode, and CUDA gets none of its instances.",
        evidence=cite(shown[0], *end.events),
        fix=(
            Fix(text="See the instances, if there are any", command="nvidia-smi -L; sudo nvidia-smi mig -lgi"),
            Fix(
                text="Name one that is there, by its UUID; a program can use a single one",
                command="export CUDA_VISIBLE_DEVICES=MIG-<UUID>",
            ),
            Fix(text="In a container: pass that one in, with docker run --gpus device=MIG-<UUID>"),
            Fix(
                text="If there is none, make one on GPU 0; profile 0 is the largest", command="sudo nvidia-smi mig -i 0 -cgi 0 -C"
            ),
        ),
        severity=None if end.wanted or not end.casual else Severity.WARNING,
    )
