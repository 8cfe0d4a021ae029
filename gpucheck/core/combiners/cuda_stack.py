"""What CUDA stands on, layer by layer: the PCI bus, the device files, the driver.

The kernel module is none of them: reading its files can hang with a driver that hangs, and then these must still be judged.
"""

from gpucheck.core.model import Fact, Fix, Request
from gpucheck.core.model.plugin import combiner
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.device_nodes import DeviceNodes
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.system import System
from gpucheck.core.probes.wsl import Wsl

_KERNEL_ANSWERED = (15, 16, 18)  # a GPU is lost, a reset is required, versions differ
_DRIVER_INSTALL = {
    "ubuntu": "sudo ubuntu-drivers install",
    "linuxmint": "sudo ubuntu-drivers install",
    "debian": "sudo apt-get install -y linux-headers-amd64 nvidia-driver",
    "fedora": "sudo dnf install -y akmod-nvidia xorg-x11-drv-nvidia-cuda",
    "rhel": "sudo dnf module install -y nvidia-driver:open-dkms",
    "rocky": "sudo dnf module install -y nvidia-driver:open-dkms",
    "almalinux": "sudo dnf module install -y nvidia-driver:open-dkms",
    "arch": "sudo pacman -S nvidia-open-dkms nvidia-utils",
}
_DRIVER_SOURCE = {
    "debian": " (from the sections contrib, non-free and non-free-firmware)",
    "fedora": " (from RPM Fusion's nonfree repository)",
    **dict.fromkeys(("rhel", "rocky", "almalinux"), " (from NVIDIA's own repository)"),
}


class CudaStack(Fact, frozen=True, kw_only=True):
    """Each layer as its probe saw it, and what several of them say together."""

    request: Request
    system: System
    wsl: Wsl
    container: Container
    pci: Pci
    device_nodes: DeviceNodes
    driver: Driver
    cuda: Cuda

    @property
    def counts_gpus(self) -> bool:
        """Whether CUDA counts a GPU: every layer below it works."""
        return bool(self.cuda.device_count)

    @property
    def kernel_answers(self) -> bool:
        """Whether NVML's answer came from the kernel's half of the driver, which proves a device below it."""
        return bool(self.driver.gpu_count) or self.driver.result in _KERNEL_ANSWERED

    @property
    def given_no_gpu(self) -> bool:
        """Whether this is a container into which no GPU device at all was passed."""
        nodes = (self.device_nodes.control, self.device_nodes.uvm, *self.device_nodes.gpus)
        passed = self.wsl.dxg_present or any(node.present for node in nodes)
        return self.container.inside and not passed and not self.kernel_answers

    @property
    def asks_for_gpu(self) -> bool:
        """Whether this is a container that was started with a GPU asked for."""
        return self.container.inside and bool(self.container.gpu_requested)

    @property
    def on_host(self) -> str:
        """Where a container has to be repaired: a part of a sentence; empty outside of one."""
        return " on the machine that runs this container" if self.container.inside else ""

    def install_driver(self, why: str) -> Fix:
        """Install the newest driver as this distribution does; for a container that is done on its host."""
        if self.container.inside:
            return Fix(text=f"{why}{self.on_host}, then restart the machine", needs=("reboot",))
        source = _DRIVER_SOURCE.get(self.system.os_id or "", "")
        command = _DRIVER_INSTALL.get(self.system.os_id or "")
        return Fix(text=f"{why}{source}, then restart the machine", command=command, needs=("reboot",))


@combiner
def combine(
    request: Request,
    system: System,
    wsl: Wsl,
    container: Container,
    pci: Pci,
    device_nodes: DeviceNodes,
    driver: Driver,
    cuda: Cuda,
) -> CudaStack:
    """All of them: a layer that nobody looked at leaves the cause unknown."""
    return CudaStack(
        request=request,
        system=system,
        wsl=wsl,
        container=container,
        pci=pci,
        device_nodes=device_nodes,
        driver=driver,
        cuda=cuda,
    )
