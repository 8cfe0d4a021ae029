"""The only GPU here is made by AMD, but the installed TensorFlow supports only NVIDIA GPUs.

Symptom:
    tf.config.list_physical_devices("GPU") returns []
    Could not find cuda drivers on your machine, GPU will not be used.
Cause:
    The package tensorflow on PyPI is built with CUDA, which is NVIDIA's. AMD publishes packages of its own, built with ROCm
    (tensorflow-rocm), for a list of its GPUs that leaves most integrated graphics out.
Fix:
    1. If ROCm supports this GPU: install ROCm, then AMD's tensorflow-rocm for exactly that ROCm release
    2. Check what ROCm reports about it
       ? rocminfo | grep -i gfx
    3. Otherwise use a machine with an NVIDIA GPU
    4. If the CPU is enough
       $ gpucheck --allow-cpu
Verify:
    tf.config.list_physical_devices("GPU") lists the GPU, and tf.test.is_built_with_rocm() returns True.
Unless:
    The AMD GPU is the processor's integrated graphics and only drives the display.
Example:
    machine: laptop-cpu
    request.allow_cpu = false
    pci.amd_gpus = [{"address": "0000:03:00.0", "vendor_id": "0x1002", "device_id": "0x744c", "class_code": "0x030000", "kernel_driver": "amdgpu"}]
    -> The only GPU on the PCI bus is AMD's (0000:03:00.0), which TensorFlow's CUDA package cannot use.
References:
    https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/3rd-party/tensorflow-install.html
"""

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.repairs.fixes import CPU_IS_ENOUGH
from gpucheck.core.repairs.wording import listing
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA


@rule(
    severity=Severity.ERROR,
    scope=Scope.HARDWARE,
    explains=(
        *WITHOUT_CUDA,
        "tensorflow-cpu-build",
        "cuda-stub-loaded",
        "driver-missing",
        "no-nvidia-gpu",
    ),
    tensorflow=True,
)
def check(stack: CudaStack, tpu: Tpu | None, build: TensorFlowBuild | None) -> Finding | Skip | None:
    """AMD display functions and not one of NVIDIA's. A ROCm build is left alone: gpucheck does not examine ROCm."""
    pci = stack.pci
    if not stack.request.needs_gpu or not pci.amd_gpus or pci.gpus or stack.driver.gpu_count or stack.counts_gpus:
        return None
    if stack.asks_for_gpu or (tpu is not None and tpu.expected):
        return None
    if build is not None:
        if build.lists_gpu:
            return None
        if build.tensorflow is not None and build.tensorflow.built_with_rocm:
            return Skip("this TensorFlow is built with ROCm, which gpucheck does not examine")
        if any("rocm" in package.name for package in build.packages.flavours):
            return Skip("a ROCm build of TensorFlow is installed, and gpucheck does not examine ROCm")
    plural, verb = ("s", "are") if len(pci.amd_gpus) > 1 else ("", "is")
    return Finding(
        summary=f"The only GPU{plural} on the PCI bus {verb} AMD's ({listing([gpu.address for gpu in pci.amd_gpus])}), which"
        " TensorFlow's CUDA package cannot use.",
        evidence=(*saw(pci, "amd_gpus", "gpus"), *saw(stack.cuda, "status")),
        fix=(
            Fix(text="If ROCm supports this GPU, install ROCm and AMD's own tensorflow-rocm; otherwise use an NVIDIA GPU"),
            CPU_IS_ENOUGH,
        ),
    )
