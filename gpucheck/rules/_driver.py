"""What the rules below TensorFlow ask: what follows without CUDA, how a driver is installed, whether a GPU was passed in."""

from gpucheck.model import Fix
from gpucheck.probes.container import Container
from gpucheck.probes.device_nodes import DeviceNodes
from gpucheck.probes.driver import Driver
from gpucheck.probes.system import System
from gpucheck.probes.wsl import Wsl

# What follows wherever CUDA does not come up: every cause below CUDA explains these.
WITHOUT_CUDA = ("cuda-init-failed", "gpus-not-listed", "training-failed")
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


def install_driver(system: System, container: Container, why: str) -> Fix:
    """Install the newest driver as this distribution does; a container can only be told to do so outside."""
    if container.inside:
        return Fix(text=f"{why} on the machine that runs this container, then restart the machine")
    source = _DRIVER_SOURCE.get(system.os_id or "", "")
    return Fix(
        text=f"{why}{source}, then restart the machine",
        command=_DRIVER_INSTALL.get(system.os_id or ""),
    )


def kernel_answers(driver: Driver) -> bool:
    """Whether NVML's answer came from the kernel's half of the driver, which proves a device below it."""
    return bool(driver.gpu_count) or driver.result in _KERNEL_ANSWERED


def given_no_gpu(container: Container, wsl: Wsl, device_nodes: DeviceNodes, driver: Driver) -> bool:
    """Whether this is a container into which no GPU device at all was passed."""
    nodes = (device_nodes.control, device_nodes.uvm, *device_nodes.gpus)
    return container.inside and not wsl.dxg_present and not any(node.present for node in nodes) and not kernel_answers(driver)
