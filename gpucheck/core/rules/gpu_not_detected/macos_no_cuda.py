"""macOS has no CUDA, so TensorFlow trains on the CPU here.

Symptom:
    tf.config.list_physical_devices("GPU") returns []
    - ERROR: Could not find a version that satisfies the requirement nvidia-cudnn-cu12
Cause:
    NVIDIA's last driver for macOS was for 10.13, and Macs with Apple silicon have no NVIDIA GPU. Apple's plugin tensorflow-metal
    offers the Mac's own GPU to some TensorFlow releases; it has had no release since early 2025.
Verify:
    gpucheck --allow-cpu passes here, or gpucheck passes on the other machine.
Unless:
    The Mac's own GPU is used through tensorflow-metal: if TensorFlow lists it, this is not reported.
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
    https://developer.apple.com/metal/tensorflow-plug-in/
"""

from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, Skip, rule, saw
from gpucheck.core.probes.system import System
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import ALLOW_CPU
from gpucheck.core.repairs.machine import apple_plugin
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_METAL = "tensorflow-metal"


@rule(
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
def check(request: Request, system: System, build: TensorFlowBuild | None, context: Context) -> Finding | Skip | None:
    """Report a Mac on which TensorFlow lists no GPU."""
    if system.platform != "darwin" or not request.needs_gpu or (build is not None and build.lists_gpu):
        return None
    if build is not None and (build.tensorflow is None or build.tensorflow.devices is None):
        installed = (*build.packages.others, *build.packages.flavours)
        if any(package.name == _METAL for package in installed):
            return Skip("tensorflow-metal is installed; only TensorFlow itself can show whether it offers the Mac's GPU")
    return Finding(
        summary="macOS has no CUDA, so TensorFlow cannot use an NVIDIA GPU on this machine.",
        evidence=saw(system, "platform", "os_name"),
        fix=repairs(context),
    )


def repairs(context: Context, *, package: str = "", torch: str = "") -> Fixes:
    """Use the Mac's own GPU, or another machine.

    Args:
        context: what is known about the machine.
        package: a package without a wheel for macOS: "nvidia-nccl-cu12"; empty if unknown.
        torch: non-empty if PyTorch reports it.
    """
    framework = "torch" if torch else context.framework
    if framework == "torch":
        yield Fix(text='Use the Mac\'s own GPU: in the program, set PyTorch\'s device to "mps" instead of "cuda"')
    elif package.startswith("nvidia-") and framework == "tensorflow":
        yield Fix(text="Install TensorFlow without NVIDIA's libraries", command=context.pip("tensorflow"))
    elif framework in (None, "tensorflow") and not _is_intel(context):
        yield from context.only(apple_plugin(context), framework="tensorflow")
    yield Fix(text="Train on a Linux machine with an NVIDIA GPU, on a cloud or in a notebook service")
    yield ALLOW_CPU


def _is_intel(context: Context) -> bool:
    return context.system is not None and context.system.architecture == "x86_64"
