"""TensorFlow ignores a GPU because it has too few multiprocessors.

Symptom:
    Ignoring visible gpu device (device: 1, name: GeForce GT 1030, ...) with core count: 3. The minimum required count is 8.
      You can adjust this requirement with the env var TF_MIN_GPU_MULTIPROCESSOR_COUNT.
Cause:
    TensorFlow ignores small cards, so that a display card does not slow down training on a large one. It requires 8
    multiprocessors, or as many as the best GPU has if all have fewer. TF_MIN_GPU_MULTIPROCESSOR_COUNT sets another minimum.
Verify:
    tf.config.list_physical_devices("GPU") lists it.
Unless:
    The card is only used for a display.
Example:
    environment.variables = {"TF_MIN_GPU_MULTIPROCESSOR_COUNT": "144"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> TensorFlow ignores GPU 0 (NVIDIA H200): it has 132 multiprocessors, but TF_MIN_GPU_MULTIPROCESSOR_COUNT requires 144.
References:
    https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/common_runtime/gpu/gpu_device.cc
"""

from gpucheck.core.compat.gpus import lowest_multiprocessors
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.cuda import Cuda, CudaDevice
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.context import Context

_VARIABLE = "TF_MIN_GPU_MULTIPROCESSOR_COUNT"


@rule(scope=Scope.ENVIRONMENT, explains=("gpus-not-listed", "training-failed", "replica-count-mismatch"), tensorflow=True)
def check(
    environment: Environment, gpus: Gpus | None, cuda: Cuda, tensorflow: TensorFlow | None, context: Context
) -> Finding | Skip | None:
    """Report GPUs below TensorFlow's minimum. An error only if no GPU remains: ignoring a display card is correct."""
    if not cuda.devices or _lists_all(tensorflow, len(cuda.devices)):
        return None
    counts = [device.multiprocessors for device in cuda.devices if device.multiprocessors is not None]
    if len(counts) < len(cuda.devices):
        return Skip("the number of multiprocessors is unknown")
    value = environment.variables.get(_VARIABLE, "").strip()
    floor = int(value) if value.isdecimal() else lowest_multiprocessors(counts)
    small = [(place, device) for place, device in enumerate(cuda.devices) if (device.multiprocessors or 0) < floor]
    if not small:
        return None
    names = [_label(device, gpus) for _, device in small]
    described = [f"{name} ({device.name})" if device.name else name for name, (_, device) in zip(names, small, strict=True)]
    have = "it has" if len(small) == 1 else "they have"
    few = listing(sorted({str(device.multiprocessors) for _, device in small}))
    requires = f"{_VARIABLE} requires" if value.isdecimal() else "TensorFlow requires"
    left = len(cuda.devices) - len(small)
    return Finding(
        summary=f"TensorFlow ignores {listing(described)}: {have} {few} multiprocessors, but {requires} {floor}.",
        evidence=(
            *saw(cuda, *(f"devices[{place}].multiprocessors" for place, _ in small)),
            *(saw(environment, f"variables.{_VARIABLE}") if value else ()),
        ),
        fix=repairs(context, count=str(min(counts)), left=bool(left), required=value.isdecimal()),
        affects=tuple(names),
        severity=Severity.WARNING if left else None,
    )


def _lists_all(tensorflow: TensorFlow | None, count: int) -> bool:
    devices = (tensorflow.devices if tensorflow is not None else None) or ()
    return sum(device.kind == "GPU" for device in devices) >= count


def _label(device: CudaDevice, gpus: Gpus | None) -> str:
    """Return the GPU's label with NVML's number, if NVML lists it."""
    labels = {gpu.pci_address: gpu.label for gpu in (gpus.gpus if gpus is not None else ()) if gpu.pci_address}
    return labels.get(device.pci_address or "", f"GPU {device.ordinal}")


def repairs(context: Context, *, device: str = "", count: str = "", left: bool = False, required: bool = False) -> Fixes:
    """Train on the small GPU; no fix if TensorFlow has a larger one, because it ignores display cards on purpose.

    Args:
        context: what is known about the machine.
        device: the GPU's number in a log; CUDA gives the fastest GPU number 0.
        count: the number of its multiprocessors; empty if unknown.
        left: whether another GPU is left.
        required: whether the variable sets the minimum.
    """
    if not required and (left or device not in ("", "0")):
        return
    text = "Lower the minimum to what this machine has" if required else "Train on it anyway"
    yield Fix(text=text, command=f"export {_VARIABLE}={count or 1}")
    yield Fix(text="Or use TensorFlow's default minimum", command=f"unset {_VARIABLE}")
