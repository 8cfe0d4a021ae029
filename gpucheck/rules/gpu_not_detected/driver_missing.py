"""An NVIDIA GPU is on the bus, and no NVIDIA driver is installed for it.

Symptom:
    nvidia-smi: command not found
    failed call to cuInit: UNKNOWN ERROR (303)
    Could not find cuda drivers on your machine, GPU will not be used.
    OSError: libcuda.so.1: cannot open shared object file: No such file or directory
Cause:
    The card is plugged in, but neither NVIDIA's kernel module nor its libraries (libcuda.so.1, libnvidia-ml.so.1) are on this
    system. CUDA wheels and toolkits bring no driver. The nouveau driver that Linux ships with shows a picture, but cannot run CUDA.
Fix:
    1. See whether the machine has an NVIDIA GPU at all
       $ lspci -d 10de:
    2. Ubuntu: install NVIDIA's driver, then restart the machine
       $ sudo ubuntu-drivers install
    3. Debian: install NVIDIA's driver, then restart the machine
       $ sudo apt-get install -y linux-headers-amd64 nvidia-driver
    4. Fedora (with RPM Fusion): install NVIDIA's driver, then restart the machine
       $ sudo dnf install -y akmod-nvidia xorg-x11-drv-nvidia-cuda
    5. If training on the CPU is what you want, ignore it: the job runs without a GPU
Verify:
    nvidia-smi prints a table with one box per GPU.
Unless:
    The GPU is meant for a display only, and training for another machine.
Example:
    container = {"inside": false}
    pci.gpus[0].kernel_driver = "nouveau"
    kernel_module = {"loaded": false, "uvm_loaded": false, "nouveau_loaded": true, "installed_for_running_kernel": false}
    device_nodes = {"control": {"path": "/dev/nvidiactl", "present": false}, "uvm": {"path": "/dev/nvidia-uvm", "present": false}}
    driver = {"status": "library-not-found", "problem": "libnvidia-ml.so.1: cannot open shared object file"}
    gpus.gpus = []
    cuda = {"status": "library-not-found", "problem": "libcuda.so.1: cannot open shared object file"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> No NVIDIA driver is installed for the GPU on the PCI bus (0000:00:06.0); nouveau holds it, which cannot run CUDA.
References:
    https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
"""

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.kernel_module import KernelModule
from gpucheck.probes.pci import Pci
from gpucheck.probes.system import System
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._driver import WITHOUT_CUDA, install_driver
from gpucheck.rules._words import listing

_STUB_LIBRARY = 34  # a toolkit's link-time stub is no driver


@rule(
    severity=Severity.ERROR,
    scope=Scope.HOST,
    explains=(*WITHOUT_CUDA, "cuda-stub-loaded", "driver-not-loaded", "device-nodes-missing"),
)
def check(
    system: System,
    wsl: Wsl,
    container: Container,
    pci: Pci,
    kernel_module: KernelModule,
    driver: Driver,
    cuda: Cuda,
) -> Finding | Skip | None:
    """Neither the kernel's half nor the libraries' half is there."""
    if wsl.inside or container.inside or not pci.gpus or driver.gpu_count or cuda.device_count:
        return None
    if all(gpu.kernel_driver == "vfio-pci" for gpu in pci.gpus):
        return None  # handed to a virtual machine: driver-not-loaded says so
    if driver.status != "library-not-found" or not (cuda.status == "library-not-found" or cuda.result == _STUB_LIBRARY):
        return None
    if kernel_module.loaded or kernel_module.installed_for_running_kernel or kernel_module.installed_for_kernels:
        return None
    if kernel_module.loaded is None:
        return Skip("whether the NVIDIA kernel module is loaded could not be read")
    many = "GPUs" if len(pci.gpus) > 1 else "GPU"
    summary = f"No NVIDIA driver is installed for the {many} on the PCI bus ({listing([gpu.address for gpu in pci.gpus])})"
    if any(gpu.kernel_driver == "nouveau" for gpu in pci.gpus):
        summary += f"; nouveau holds {'them' if many == 'GPUs' else 'it'}, which cannot run CUDA"
    return Finding(
        summary=f"{summary}.",
        evidence=(
            *saw(pci, "gpus[0].address", "gpus[0].kernel_driver"),
            *saw(kernel_module, "loaded", "installed_for_running_kernel"),
            *saw(driver, "status"),
            *saw(cuda, "status"),
        ),
        fix=(install_driver(system, container, "Install NVIDIA's driver"),),
    )
