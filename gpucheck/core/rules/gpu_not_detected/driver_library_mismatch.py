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
Fix:
    1. Restart the machine, so that the kernel module of the libraries' version is loaded
       $ sudo reboot
    2. In a container: restart it, and remove the packages libnvidia-*, libcuda* and cuda-compat-* from its image
    3. For CUDA error 804: remove the folder with cuda-compat's libcuda.so.1 from LD_LIBRARY_PATH, or remove that package
    4. Check where libcuda.so.1 is found, and whether cuda-compat is installed
       ? echo $LD_LIBRARY_PATH; ldconfig -p | grep libcuda; dpkg -l | grep cuda-compat
    5. Compare the two versions
       ? cat /proc/driver/nvidia/version; nvidia-smi
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
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Evidence, Finding, Fix, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.repairs.commands import set_path
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_NVML_MISMATCH = 18
_CUDA_MISMATCH = 803
_CUDA_COMPAT_REFUSED = 804
_VERSION = r"\.so\.(\d+\.[\d.]*\d)$"  # libcuda.so.580.159.04, not libcuda.so.1
_IN_CONTAINER = (
    Fix(text="Restart this container: the host's driver was upgraded after the container started"),
    Fix(
        text="Check whether the image contains its own driver libraries, and remove those packages",
        command="dpkg -l | grep -E 'libnvidia-|libcuda1|cuda-compat'",
        kind="look",
    ),
    Fix(text="If nvidia-smi fails outside the container too, restart the machine", needs=("reboot",)),
)
_ON_HOST = (
    Fix(text="Restart the machine, so that the kernel module of the libraries' version is loaded", needs=("reboot",)),
    Fix(text="Compare the two versions", command="cat /proc/driver/nvidia/version; dpkg -l | grep nvidia", kind="look"),
)


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=(*WITHOUT_CUDA, "container-without-gpu", "driver-unresponsive"))
def check(
    stack: CudaStack, kernel_module: KernelModule, environment: Environment | None, outcomes: TrainingOutcomes
) -> Finding | None:
    """Report a mismatch that NVML or CUDA returned, unless CUDA works."""
    driver, cuda = stack.driver, stack.cuda
    if stack.counts_gpus or stack.given_no_gpu:
        return None
    mismatch = _mismatch(driver, cuda, outcomes)
    if not mismatch:
        return None
    if cuda.result == _CUDA_COMPAT_REFUSED and driver.result != _NVML_MISMATCH:
        return _compat(environment, cuda, mismatch)
    library = _version(driver.library) or _version(cuda.library)
    kernel = kernel_module.version
    summary = "The NVIDIA kernel module and the driver's libraries have different versions."
    if kernel and library and kernel != library:
        summary = (
            f"The NVIDIA kernel module is version {kernel}, but the driver's libraries are {library}:"
            " both must have the same version."
        )
    return Finding(
        summary=summary,
        evidence=(*mismatch, *saw(kernel_module, "version"), *saw(driver, "library"), *saw(cuda, "library")),
        fix=_IN_CONTAINER if stack.container.inside else _ON_HOST,
    )


def _mismatch(driver: Driver, cuda: Cuda, outcomes: TrainingOutcomes) -> tuple[Evidence, ...]:
    """Who reports a mismatch."""
    return (
        *(saw(driver, "result", "result_name") if driver.result == _NVML_MISMATCH else ()),
        *(saw(cuda, "result", "result_name") if cuda.result in (_CUDA_MISMATCH, _CUDA_COMPAT_REFUSED) else ()),
        *outcomes.saw_events(Kind.DRIVER_MISMATCH),
    )


def _compat(environment: Environment | None, cuda: Cuda, mismatch: tuple[Evidence, ...]) -> Finding:
    """Error 804: NVIDIA lets only data-center GPUs, and only certain older drivers, run a newer libcuda."""
    library = cuda.library or "libcuda.so.1"
    folder = library.rpartition("/")[0]
    path = (environment.variables if environment is not None else {}).get("LD_LIBRARY_PATH", "")
    entries = [entry for entry in path.split(":") if entry]
    kept = [entry for entry in entries if "compat" not in entry and entry.rstrip("/") != folder]
    remove = Fix(text="Or remove the cuda-compat package (in a container: from its image)")
    fix = (remove, Fix(text="Install a newer driver that does not need it"))
    if len(kept) < len(entries):
        take_out = "Use the machine's own driver library: remove the folder of cuda-compat from LD_LIBRARY_PATH"
        fix = (Fix(text=take_out, command=set_path("LD_LIBRARY_PATH", kept)), remove)
    return Finding(
        summary=f"CUDA loaded a forward-compatibility driver library ({library}), which this GPU or driver does not accept.",
        evidence=(*mismatch, *saw(cuda, "library")),
        fix=fix,
    )


def _version(library: str | None) -> str | None:
    match = re.search(_VERSION, library or "")
    return match[1] if match else None
