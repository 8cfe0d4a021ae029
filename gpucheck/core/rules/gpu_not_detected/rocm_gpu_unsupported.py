"""The only GPU here is made by AMD, but the installed TensorFlow supports only NVIDIA GPUs.

Symptom:
    tf.config.list_physical_devices("GPU") returns []
    Could not find cuda drivers on your machine, GPU will not be used.
Cause:
    The package tensorflow on PyPI is built with CUDA, which is NVIDIA's. AMD publishes its own packages, built with ROCm
    (tensorflow-rocm), for a list of its GPUs that excludes most integrated graphics.
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

import re

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import ALLOW_CPU
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_GFX = r"gfx\d{3,4}\w?"
# Consumer GPUs can run ROCm's code for another GPU of their generation.
_SIMILAR = {"gfx103": ("RX 6000", "10.3.0"), "gfx110": ("RX 7000", "11.0.0")}
_DENIED = r"(?i)/dev/(?:kfd|dri)\S*[^\n]{0,40}(?:denied|not permitted)|No HIP GPUs are|no ROCm-capable device|hipInit: HIP_ERROR_InvalidDevice|HIP_ERROR_NoDevice|not (?:a )?member of [^\n]{0,20}(?:render|video)"
_LIBRARY = r"\blib(rccl|rocblas|hipblas|hipfft|miopen|MIOpen|hipsparse|rocrand|hiprand|roctracer|amdhip64|hipsolver)\S*\.so[\d.]*"
_OF_ROCM = r"(?i)\bhip(?:error| (?:runtime )?error)|rocblas|TensileLibrary"


@rule(
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
def check(
    stack: CudaStack, pci: Pci, request: Request, tpu: Tpu | None, build: TensorFlowBuild | None, context: Context
) -> Finding | Skip | None:
    """Report a machine with only AMD GPUs, unless TensorFlow is a ROCm build, which gpucheck does not examine."""
    if not request.needs_gpu or not pci.amd_gpus or pci.gpus or stack.driver.gpu_count or stack.counts_gpus:
        return None
    if stack.container_requests_gpu or (tpu is not None and tpu.expected):
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
        fix=repairs(context),
    )


_MOST_SIMILAR = "Run the code of the most similar GPU that ROCm supports on {} (AMD does not support this)"
_OVERRIDE = "export HSA_OVERRIDE_GFX_VERSION="


def repairs(context: Context, *, unsupported: str = "", text: str = "") -> Fixes:
    """Use AMD's own build, or another GPU.

    Args:
        context: what is known about the machine.
        unsupported: the architecture that ROCm has no code for: "gfx1031"; empty if unknown.
        text: the line that reports it.
    """
    if re.search(_DENIED, text):
        yield from _permitted(context)
        return
    if library := re.search(_LIBRARY, text):
        name = library[1].replace("amdhip64", "hip-runtime-amd").replace("_", "-")
        yield Fix(
            text=f"Install the ROCm library {library[0]}, from the ROCm release that this build is for",
            command=f"sudo apt-get install -y {name}",
        )
        yield Fix(text="Or use AMD's own image, which has all of them: rocm/tensorflow")
        return
    gfx = re.search(_GFX, unsupported) or re.search(_GFX, text)
    if gfx or re.search(_OF_ROCM, text):  # a build for ROCm is installed
        similar = [
            Fix(text=_MOST_SIMILAR.format(gfx[0] if gfx else f"a GPU of the series {series}"), command=_OVERRIDE + version)
            for prefix, (series, version) in _SIMILAR.items()
            if gfx is None or (gfx[0].startswith(prefix) and gfx[0] != f"gfx{version.replace('.', '')}")
        ]
        image = f"rocm/{'pytorch' if context.framework == 'torch' else context.framework or 'tensorflow'}"
        build = f"Use a build of a ROCm release that supports this GPU, such as AMD's image {image}"
        yield from similar
        yield Fix(text=f"{build}: newer releases add GPUs, and drop old ones")
    elif context.framework == "torch":
        command = context.pip("--force-reinstall", "torch", "--index-url", "https://download.pytorch.org/whl/rocm6.3")
        yield Fix(text="If ROCm supports this GPU, install PyTorch's build for ROCm", command=command)
    else:
        install = "If ROCm supports this GPU, install ROCm, and AMD's own package for exactly that release"
        yield Fix(text=f"{install} (TensorFlow: tensorflow-rocm)")
    yield Fix(text="Or use a machine with an NVIDIA GPU")
    yield ALLOW_CPU
    supported = Fix.look("Check what ROCm reports about the GPU", "rocminfo | grep -i gfx")
    yield from context.only(supported, system="linux")


def _permitted(context: Context) -> Fixes:
    """Let this user open the GPU's device files."""
    if context.in_container:
        yield Fix(
            text="Start the container with the GPU's device files: --device=/dev/kfd --device=/dev/dri --group-add video --group-add render"
        )
        return
    groups = Fix(
        text="Add this user to the groups that own the GPU's device files, then log in again",
        command='sudo usermod -a -G render,video "$USER"',
    )
    driver = "Update AMD's driver (Adrenalin), and Microsoft's Visual C++ redistributable: https://aka.ms/vc14/vc_redist.x64.exe"
    yield from context.only(groups, system="linux|wsl")
    yield from context.only(Fix(text=driver), system="win32")
