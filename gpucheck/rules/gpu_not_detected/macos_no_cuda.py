"""macOS has no CUDA, so TensorFlow trains on the CPU here.

Symptom:
    tf.config.list_physical_devices("GPU") returns []
    ERROR: Could not find a version that satisfies the requirement nvidia-cudnn-cu12
Cause:
    NVIDIA's last driver for macOS was for 10.13, and Macs with Apple silicon have no NVIDIA GPU. Apple's plug-in tensorflow-metal
    offers the Mac's own GPU to some TensorFlow releases; it has had no release since early 2025.
Fix:
    1. Train on a Linux machine with an NVIDIA GPU, on a cloud or in a notebook service
    2. For the Mac's own GPU, install Apple's plug-in
       $ python -m pip install tensorflow-metal
    3. If training on the CPU is what you want, say so
       $ gpucheck --allow-cpu
Verify:
    gpucheck --allow-cpu passes here, or gpucheck passes there.
Unless:
    The Mac's own GPU is used through tensorflow-metal: where TensorFlow lists it, this is not said.
Example:
    machine: laptop-cpu
    request.allow_cpu = false
    system = {"platform": "darwin", "os_name": "macOS 15.5", "architecture": "arm64"}
    pci.readable = false
    kernel_module = {}
    libraries = {}
    -> macOS has no CUDA, so TensorFlow cannot use an NVIDIA GPU on this machine.
References:
    https://www.tensorflow.org/install/pip#macos
    https://developer.apple.com/metal/tensorflow-plugin/
"""

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.packages import Packages
from gpucheck.probes.system import System
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._driver import WITHOUT_CUDA
from gpucheck.rules._tensorflow import lists_gpu

_METAL = "tensorflow-metal"


@rule(
    severity=Severity.ERROR,
    scope=Scope.HOST,
    explains=(
        *WITHOUT_CUDA,
        "tensorflow-cpu-build",
        "platform-unsupported",
        "driver-missing",
        "no-nvidia-gpu",
        "cpu-fallback",
    ),
    tensorflow=True,
)
def check(request: Request, system: System, packages: Packages | None, tensorflow: TensorFlow | None) -> Finding | Skip | None:
    """A Mac on which TensorFlow lists no GPU."""
    if system.platform != "darwin" or not request.needs_gpu or lists_gpu(tensorflow):
        return None
    listed = tensorflow is not None and tensorflow.devices is not None
    if packages is not None and not listed and any(item.name == _METAL for item in (*packages.others, *packages.flavours)):
        return Skip("tensorflow-metal is installed; only TensorFlow itself can say whether it offers the Mac's GPU")
    return Finding(
        summary="macOS has no CUDA, so TensorFlow cannot use an NVIDIA GPU on this machine.",
        evidence=saw(system, "platform", "os_name"),
        fix=(
            Fix(text="Train on a Linux machine with an NVIDIA GPU"),
            Fix(text="If training on the CPU is what you want, say so", command="gpucheck --allow-cpu"),
        ),
    )
