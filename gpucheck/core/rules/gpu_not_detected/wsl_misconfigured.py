"""WSL does not give Linux access to the PC's GPU.

Symptom:
    Linux pc 5.15.167.4-microsoft-standard-WSL2 x86_64 GNU/Linux
      Failed to initialize NVML: GPU access blocked by the operating system
    Failed to initialize NVML: Driver/library version mismatch
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    failed call to cuInit: UNKNOWN ERROR (303)
    - nvidia-smi works in Windows and not inside WSL
Cause:
    WSL2 reaches the GPU through /dev/dxg and the libraries that the Windows driver puts into /usr/lib/wsl/lib. It fails on WSL1,
    with [gpu] enabled=false in /etc/wsl.conf, with an old WSL kernel or Windows driver, without the loader's entry for that
    folder, or with a Linux NVIDIA driver installed inside WSL, whose libcuda.so.1 hides the right one.
Verify:
    /usr/lib/wsl/lib/nvidia-smi prints the table, inside WSL.
Unless:
    The PC has no NVIDIA GPU: train on the CPU, with --allow-cpu.
Example:
    wsl = {"inside": true, "version": 2, "dxg_present": true, "libraries": ["libcuda.so.1", "libnvidia-ml.so.1"], "linux_driver_libraries": ["/usr/lib/x86_64-linux-gnu/libcuda.so.1"]}
    container = {"inside": false}
    system.kernel = "5.15.153.1-microsoft-standard-WSL2"
    pci.gpus = []
    kernel_module = {"loaded": false, "uvm_loaded": false, "nouveau_loaded": false, "installed_for_running_kernel": false}
    device_nodes = {"control": {"path": "/dev/nvidiactl", "present": false}, "uvm": {"path": "/dev/nvidia-uvm", "present": false}}
    cuda = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "library": "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> A Linux NVIDIA driver is installed inside WSL, and hides the Windows driver: /usr/lib/x86_64-linux-gnu/libcuda.so.1.
References:
    https://docs.nvidia.com/cuda/wsl-user-guide/
    https://learn.microsoft.com/windows/wsl/tutorials/gpu-compute
"""

import re

from msgspec.structs import replace

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Request, Scope, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import ALLOW_CPU, SEARCH_WSL_LIBRARIES, UPDATE_WSL, UPDATE_WSL_CONTAINERS
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_SHUTDOWN = "wsl.exe --shutdown"
_WINDOWS = Fix(text="Install NVIDIA's current driver on Windows (not inside WSL), then restart WSL", command=_SHUTDOWN)
# apt-get removes nothing if one of the names is unknown, so only installed names are passed.
_PURGE = (
    "sudo apt-get purge $(dpkg-query -W -f '${Package} ' 'nvidia-driver-*' 'libnvidia-compute-*' cuda-drivers 2>/dev/null)"
    " && sudo ldconfig"
)
_REMOVE = Fix(text="Remove the Linux driver; WSL uses the Windows driver", command=_PURGE)
_ENABLE = Fix(
    text="Set enabled=true, then restart WSL from a Windows prompt (wsl --shutdown)",
    command=r"sudo sed -i '/^\[gpu\]/,/^\[/ s/^\( *enabled *= *\)false/\1true/' /etc/wsl.conf",
)
_CONVERT = Fix(
    text="Convert this distribution, from a Windows prompt (wsl -l -v shows its name)",
    command="wsl.exe --set-version Ubuntu 2",
)
_REMOVE_IF = replace(_REMOVE, text="If a Linux driver is installed inside WSL, remove it")
_RESTART = Fix(text="Then restart WSL, from a Windows prompt", command=_SHUTDOWN)
_BY_REASON = {
    "wsl1": (_CONVERT, ALLOW_CPU),
    "disabled": (_ENABLE, ALLOW_CPU),
    "no-device": (UPDATE_WSL, _WINDOWS, ALLOW_CPU),
    "no-driver": (_WINDOWS, UPDATE_WSL, ALLOW_CPU),
    "linux-driver": (_REMOVE, _RESTART),
    "unsearched": (SEARCH_WSL_LIBRARIES,),
    "no-cuda": (_REMOVE_IF, _RESTART, _WINDOWS),
    "": (UPDATE_WSL, _WINDOWS, _REMOVE_IF),
}
_WSL1 = r"(?i)\bWSL ?1\b"
_NO_LIBRARY = ("library-not-found", "library-unusable")


@rule(
    scope=Scope.HOST,
    explains=(
        *WITHOUT_CUDA,
        "driver-library-mismatch",
        "cuda-stub-loaded",
        "devices-hidden",
        "container-without-gpu",
        "no-nvidia-gpu",
        "driver-missing",
        "driver-library-missing",
        "driver-not-loaded",
        "device-nodes-missing",
        "device-permission-denied",
    ),
)
def check(stack: CudaStack, request: Request, context: Context) -> Finding | None:
    """Check from the bottom up: WSL's version, its GPU device, its libraries, and the ones that CUDA loads."""
    wsl = stack.wsl
    if not wsl.inside or stack.container.inside or stack.counts_gpus:
        return None
    if (absence := _absence(wsl)) is not None:
        why, summary, fields = absence
        finding = Finding(summary=summary, evidence=saw(wsl, *fields), fix=repairs(context, why=why))
        return finding if request.needs_gpu else None
    linux_drivers = [path for path in wsl.linux_driver_libraries if "libcuda" in path] or list(wsl.linux_driver_libraries)
    loaded = (stack.cuda.library or stack.driver.library or "").startswith("/usr/lib/wsl/")
    evidence: tuple[Evidence, ...] = saw(stack.cuda, "status", "result_name", "library")
    if linux_drivers and not (loaded and stack.driver.gpu_count):
        return Finding(
            summary=f"A Linux NVIDIA driver is installed inside WSL, and hides the Windows driver: {listing(linux_drivers)}.",
            evidence=(*saw(wsl, "linux_driver_libraries"), *evidence),
            fix=repairs(context, why="linux-driver"),
        )
    if stack.cuda.status in _NO_LIBRARY:
        return Finding(
            summary="WSL's NVIDIA libraries are in /usr/lib/wsl/lib, but the loader does not search this folder.",
            evidence=(*saw(wsl, "libraries"), *evidence),
            fix=repairs(context, why="unsearched"),
        )
    return None


def _absence(wsl: Wsl) -> tuple[str, str, tuple[str, ...]] | None:
    """Return why WSL provides no GPU: the argument of ``repairs``, the summary, and the fields that show it."""
    if wsl.version == 1:
        return "wsl1", "This is WSL1, which has no access to a GPU; use WSL2.", ("version",)
    if wsl.dxg_present is False and wsl.gpu_enabled is False:
        summary = "WSL does not pass in the GPU: /etc/wsl.conf contains enabled=false under [gpu]."
        return "disabled", summary, ("gpu_enabled", "dxg_present")
    if wsl.dxg_present is False:
        summary = "WSL has no GPU: /dev/dxg is missing, so its kernel or the Windows driver is too old, or Windows has none."
        return "no-device", summary, ("dxg_present", "version")
    if wsl.dxg_present and not any("libcuda" in library for library in wsl.libraries):
        summary = (
            "WSL has a GPU device, but no NVIDIA library in /usr/lib/wsl/lib:"
            " Windows has no NVIDIA driver, an old one, or no NVIDIA GPU."
        )
        return "no-driver", summary, ("dxg_present", "libraries")
    return None


def repairs(context: Context, *, why: str = "", message: str = "", library: str = "", code: str = "") -> Fixes:
    """Make WSL provide the PC's GPU.

    Args:
        context: what is known about the machine.
        why: "wsl1", "disabled", "no-device", "no-driver", "linux-driver", "unsearched"; empty: see the other arguments.
        message: the message that reports it.
        library: the library that is missing from the Windows driver's folder.
        code: cuInit's result in a log.
    """
    if code == "500":
        yield UPDATE_WSL_CONTAINERS.after("In a container:")
    by_message = "wsl1" if re.search(_WSL1, message) else "no-driver" if library or "no adapters" in message else ""
    by_message = "no-cuda" if "ERR!" in message else by_message
    yield from _BY_REASON[why or by_message]
    if not why:
        yield Fix.look("Check that the version of WSL is 2, from a Windows prompt", "wsl.exe -l -v")
