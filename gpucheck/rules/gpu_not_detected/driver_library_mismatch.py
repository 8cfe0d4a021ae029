"""The NVIDIA kernel module and the driver's libraries are of different versions.

Symptom:
    Failed to initialize NVML: Driver/library version mismatch
    NVML library version: 580.159
    failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported HW
    kernel version 580.126.9 does not match DSO version 580.159.4 -- cannot find working devices in this configuration
Cause:
    Kernel module and libraries talk to each other only at exactly the same version. An upgrade (often an unattended one)
    replaced the files while the old module stayed loaded; or the container image brought driver libraries of its own; or a
    forward-compatibility libcuda (the cuda-compat package) was loaded on a GPU or driver that does not take it.
Fix:
    1. Restart the machine, so that the kernel module of the libraries' version is loaded
       $ sudo reboot
    2. In a container: restart it, and remove the packages libnvidia-*, libcuda* and cuda-compat-* from its image
    3. For CUDA error 804: take the folder with cuda-compat's libcuda.so.1 out of LD_LIBRARY_PATH, or remove that package
       $ echo $LD_LIBRARY_PATH; ldconfig -p | grep libcuda; dpkg -l | grep cuda-compat
    4. Compare the two versions
       $ cat /proc/driver/nvidia/version; nvidia-smi
Verify:
    nvidia-smi prints its table, and cat /proc/driver/nvidia/version shows the same version.
Unless:
    Never; nothing runs on the GPU until both agree.
Example:
    kernel_module.version = "580.126.09"
    driver = {"status": "failed", "result": 18, "result_name": "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "problem": "Driver/library version mismatch", "library": "/usr/local/nvidia/lib64/libnvidia-ml.so.580.159.04"}
    gpus.gpus = []
    cuda = {"status": "failed", "result": 803, "result_name": "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "library": "/usr/local/nvidia/lib64/libcuda.so.580.159.04", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> The NVIDIA kernel module is version 580.126.09 and the driver's libraries are 580.159.04: they work together only at the same version.
References:
    https://docs.nvidia.com/deploy/cuda-compatibility/
"""

import re

from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.device_nodes import DeviceNodes
from gpucheck.probes.driver import Driver
from gpucheck.probes.environment import Environment
from gpucheck.probes.kernel_module import KernelModule
from gpucheck.probes.log import Log
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._driver import WITHOUT_CUDA, given_no_gpu
from gpucheck.rules._log import events

_NVML_MISMATCH = 18
_CUDA_MISMATCH = 803
_CUDA_COMPAT_REFUSED = 804
_VERSION = re.compile(r"\.so\.(\d+\.[\d.]*\d)$")  # libcuda.so.580.159.04, not libcuda.so.1


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=(*WITHOUT_CUDA, "container-without-gpu", "driver-unresponsive"))
def check(
    wsl: Wsl,
    container: Container,
    kernel_module: KernelModule,
    device_nodes: DeviceNodes,
    environment: Environment | None,
    driver: Driver,
    cuda: Cuda,
    log: Log | None,
) -> Finding | None:
    """NVML's or CUDA's own word for it; where CUDA works, there is no mismatch that matters."""
    if cuda.device_count or given_no_gpu(container, wsl, device_nodes, driver):
        return None
    said = _said(driver, cuda, log)
    if not said:
        return None
    if cuda.result == _CUDA_COMPAT_REFUSED and driver.result != _NVML_MISMATCH:
        return _compat(environment, cuda, said)
    library = _version(driver.library) or _version(cuda.library)
    kernel = kernel_module.version
    if kernel and library and kernel != library:
        summary = (
            f"The NVIDIA kernel module is version {kernel} and the driver's libraries are {library}:"
            " they work together only at the same version."
        )
    else:
        summary = "The NVIDIA kernel module and the driver's libraries are of different versions."
    restart = Fix(text="Restart the machine, so that the kernel module of the libraries' version is loaded")
    if container.inside:
        fixes: tuple[Fix, ...] = (
            Fix(text="Restart this container: the driver of its machine was upgraded after it had started"),
            Fix(
                text="If it stays, the image brings driver libraries of its own: remove those packages from it",
                command="dpkg -l | grep -E 'libnvidia-|libcuda1|cuda-compat'",
            ),
            Fix(text="If nvidia-smi fails outside the container too, restart the machine"),
        )
    else:
        fixes = (restart, Fix(text="Compare the two versions", command="cat /proc/driver/nvidia/version; dpkg -l | grep nvidia"))
    return Finding(
        summary=summary,
        evidence=(*said, *saw(kernel_module, "version"), *saw(driver, "library"), *saw(cuda, "library")),
        fix=fixes,
    )


def _said(driver: Driver, cuda: Cuda, log: Log | None) -> tuple[Evidence, ...]:
    """Who speaks of a mismatch."""
    found: list[Evidence] = []
    if driver.result == _NVML_MISMATCH:
        found += saw(driver, "result", "result_name")
    if cuda.result in (_CUDA_MISMATCH, _CUDA_COMPAT_REFUSED):
        found += saw(cuda, "result", "result_name")
    found += events(log, "driver-mismatch")
    return tuple(found)


def _compat(environment: Environment | None, cuda: Cuda, said: tuple[Evidence, ...]) -> Finding:
    """Error 804: NVIDIA lets only data-center GPUs, and only certain older drivers, run a newer libcuda."""
    library = cuda.library or "libcuda.so.1"
    folder = library.rpartition("/")[0]
    path = (environment.variables if environment is not None else {}).get("LD_LIBRARY_PATH", "")
    kept = [entry for entry in path.split(":") if entry and "compat" not in entry and entry.rstrip("/") != folder]
    listed = len(kept) < len([entry for entry in path.split(":") if entry])
    take_out = Fix(
        text="Let the machine's own driver library be found: take the folder of cuda-compat out of LD_LIBRARY_PATH",
        command=(f'export LD_LIBRARY_PATH="{":".join(kept)}"' if kept else "unset LD_LIBRARY_PATH") if listed else None,
    )
    remove = Fix(text="Or remove the cuda-compat package (in a container: from its image)", command="dpkg -l | grep cuda-compat")
    return Finding(
        summary=f"CUDA loaded a forward-compatibility driver library ({library}), which this GPU or driver does not accept.",
        evidence=(*said, *saw(cuda, "library")),
        fix=(take_out, remove) if listed else (remove, Fix(text="Install a driver that is new enough by itself")),
    )


def _version(library: str | None) -> str | None:
    match = _VERSION.search(library or "")
    return match[1] if match else None
