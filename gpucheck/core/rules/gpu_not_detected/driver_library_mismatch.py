"""The NVIDIA kernel module and the driver's libraries have different versions.

Symptom:
    Failed to initialize NVML: Driver/library version mismatch
    NVML library version: 580.159
    failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported HW
    kernel version 580.126.9 does not match DSO version 580.159.4 -- cannot find working devices in this configuration
Cause:
    The kernel module and the libraries must have exactly the same version. An upgrade (often an unattended one) replaced the
    files while the old module stayed loaded; or the container image contains its own driver libraries; or a
    forward-compatibility libcuda (the cuda-compat package) was loaded on a GPU or driver that does not support it.
Verify:
    nvidia-smi prints its table, and cat /proc/driver/nvidia/version shows the same version.
Unless:
    Never: nothing runs on the GPU until both versions match.
Example:
    kernel_module.version = "580.126.09"
    driver = {"status": "failed", "result": 18, "result_name": "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "problem": "Driver/library version mismatch", "library": "/usr/local/nvidia/lib64/libnvidia-ml.so.580.159.04"}
    gpus.gpus = []
    cuda = {"status": "failed", "result": 803, "result_name": "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "library": "/usr/local/nvidia/lib64/libcuda.so.580.159.04", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> The NVIDIA kernel module is version 580.126.09, but the driver's libraries are 580.159.04: both must have the same version.
References:
    https://docs.nvidia.com/deploy/cuda-compatibility/
"""

import re

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import versions
from gpucheck.core.compat.cuda import CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, results_of
from gpucheck.core.compat.nvml import VERSION_MISMATCH
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, rule, saw
from gpucheck.core.model.wording import driver_mismatch
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.repairs.commands import without_folders
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.machine import by_distribution, install_driver, restart
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_ON_HOST = r"nvidia-container-cli|\bnvml error: |\bNVRM\b"  # of commands that only the host can run
_RESTART_CONTAINER = Fix(
    text="Restart the container, which then gets the libraries of the host's driver: docker restart CONTAINER"
)
_OWN_LIBRARIES = Fix(text="Remove the driver's own packages from the image: libnvidia-*, libcuda1, cuda-compat-*")
_FIRMWARE = Fix(
    text="If a restart does not help, install the driver's firmware in the kernel module's version: firmware-nvidia-gsp on Debian,"
    " nvidia-firmware-BRANCH on Ubuntu"
)
_VERSION = r"\.so\.(\d+\.[\d.]*\d)$"  # libcuda.so.580.159.04, not libcuda.so.1


@rule(scope=Scope.HOST, explains=(*WITHOUT_CUDA, "container-without-gpu", "devices-hidden", "driver-unresponsive"))
def check(
    stack: CudaStack,
    kernel_module: KernelModule,
    environment: Environment | None,
    outcomes: TrainingOutcomes,
    context: Context,
) -> Finding | None:
    """Report a mismatch that NVML or CUDA returned, unless CUDA works."""
    driver, cuda = stack.driver, stack.cuda
    if stack.counts_gpus or stack.container_lacks_gpu:
        return None
    mismatch = _mismatch(stack, outcomes)
    if not mismatch:
        return None
    if cuda.result == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE and driver.result != VERSION_MISMATCH:
        return _compat(environment, stack, mismatch, context)
    library = _version(driver.library) or _version(cuda.library)
    kernel = kernel_module.version
    return Finding(
        summary=driver_mismatch(kernel, library),
        evidence=(*mismatch, *saw(kernel_module, "version"), *saw(driver, "library"), *saw(cuda, "library")),
        fix=repairs(context, kernel=kernel or "", library=library or ""),
    )


def _mismatch(stack: CudaStack, outcomes: TrainingOutcomes) -> tuple[Evidence, ...]:
    """Return the evidence of a mismatch."""
    driver, cuda = stack.driver, stack.cuda
    return (
        *(saw(driver, "result", "result_name") if driver.result == VERSION_MISMATCH else ()),
        *(saw(cuda, "result", "result_name") if cuda.result in results_of("driver-library-mismatch") else ()),
        *outcomes.saw_events("driver-mismatch"),
    )


def _compat(environment: Environment | None, stack: CudaStack, mismatch: tuple[Evidence, ...], context: Context) -> Finding:
    """Report error 804: a newer libcuda runs only on data-center GPUs, and with some older drivers."""
    library = stack.cuda.library or "libcuda.so.1"
    path = (environment.variables if environment is not None else {}).get("LD_LIBRARY_PATH", "")
    command = without_folders(path, word="compat", folder=library.rpartition("/")[0])
    return Finding(
        summary=f"CUDA loaded a forward-compatibility driver library ({library}), which this GPU or driver does not support.",
        evidence=(*mismatch, *saw(stack.cuda, "library")),
        fix=repairs(context, code=str(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE), without_compat=command),
    )


def _version(library: str | None) -> str | None:
    match = re.search(_VERSION, library or "")
    return match[1] if match else None


def repairs(
    context: Context, *, kernel: str = "", library: str = "", code: str = "", without_compat: str = "", text: str = ""
) -> Fixes:
    """Make the versions of the kernel module and the libraries equal.

    Args:
        context: what is known about the machine.
        kernel: version of the kernel module; empty if unknown.
        library: version of the libraries; empty if unknown.
        code: the code of the CUDA error: "804" is about cuda-compat.
        without_compat: the command that removes cuda-compat's folder from LD_LIBRARY_PATH; empty if the folder may not be there.
        text: the line that reports it.
    """
    if context.notebook:
        yield from restart(context)
        return
    if code == str(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE):
        yield from _without_compat(context, without_compat)
        return
    inside = context.in_container and not re.search(_ON_HOST, text)
    if inside:
        yield _RESTART_CONTAINER
    older = kernel and library and not versions.at_least(library, kernel)
    if older and not context.in_wsl:
        yield from _reinstall(context, kernel, inside=inside)
    yield from restart(context, "Restart the machine to load the kernel module of the libraries' version")
    if "firmware" in text:
        yield _FIRMWARE
    if inside and not older:
        yield _OWN_LIBRARIES
    if not inside:
        if context.container is None:
            yield from context.only(_RESTART_CONTAINER, container="docker")
        versions_there = "cat /proc/driver/nvidia/version; dpkg -l | grep nvidia"
        yield from context.only(Fix.look("Compare the two versions", versions_there), system="linux")


def _reinstall(context: Context, kernel: str, *, inside: bool) -> Fixes:
    """Reinstall the libraries, which are older than the module: a restart would load the same module again."""
    if inside:
        yield _OWN_LIBRARIES
        return
    text = f"Install the libraries of the kernel module's version {kernel}: the loaded ones are older"
    branch = versions.parse(kernel)[0]
    install = f"sudo apt-get install -y --only-upgrade libnvidia-compute-{branch} nvidia-utils-{branch}"
    yield from by_distribution(context, text, {"ubuntu|linuxmint": install})


def _without_compat(context: Context, command: str) -> Fixes:
    """Stop using cuda-compat's libcuda, which needs a data-center GPU; an upgrade without a restart has the same symptoms."""
    if command:
        take_out = "Use the machine's own driver library: remove the folder of cuda-compat from LD_LIBRARY_PATH"
        yield Fix(text=take_out, command=command)
    if context.in_container:
        yield Fix(text="Use an image for a CUDA version that the host's driver supports, which needs no cuda-compat")
        yield from install_driver(context, "Install a newer NVIDIA driver")
        return
    if not command:
        yield from restart(context, "Restart the machine, in case the driver was upgraded since the last restart")
        look = "echo $LD_LIBRARY_PATH; ldconfig -p | grep libcuda"
        find = Fix.look("Find the folder of cuda-compat that LD_LIBRARY_PATH contains", look)
        yield from context.only(find, system="linux|wsl")
    yield Fix(text="Or remove the cuda-compat package")
