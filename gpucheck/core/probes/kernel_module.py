"""The NVIDIA kernel module: whether it is loaded, its version, and whether one is installed for the running kernel."""

import re

from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe

# "Kernel Module  535.54.03", and of the open module "Open Kernel Module for x86_64  595.45.04".
VERSION = r"Kernel Module(?: for \S+)?\s+(\d+\.\d+(?:\.\d+)?)"
# Under /lib/modules/<release>: the folders of DKMS, akmods, the packages of Ubuntu, Debian, Red Hat and Arch, and NVIDIA's
# installer.
FOLDERS = (
    "updates",
    "updates/*",
    "extra",
    "extra/*",
    "extra/drivers/video/nvidia",
    "extramodules",
    "kernel/drivers/video",
    "kernel/nvidia-*",
    "weak-updates",
    "weak-updates/*",
)
# Debian installs nvidia-current.ko. Not the GPU driver itself: nvidia-drm, -modeset, -peermem, -uvm, -vgpu-vfio.
FILE = r"nvidia(-current|-open|-legacy[-\w]*|-tesla[-\w]*)?\.ko(\.\w+)?"


class KernelModule(Fact, frozen=True, kw_only=True):
    """From /proc/driver/nvidia, /sys/module and /lib/modules."""

    loaded: bool | None = None  # None: neither /sys/module nor /proc/modules is readable (macOS, Windows)
    version: str | None = None  # "580.159.04", of the loaded module
    open_source: bool | None = None
    uvm_loaded: bool | None = None  # nvidia_uvm, which CUDA needs
    nouveau_loaded: bool | None = None
    installed_for_running_kernel: bool | None = None  # an nvidia.ko* under /lib/modules/<release>; None: folder unreadable
    installed_for_kernels: tuple[str, ...] = ()  # other kernel releases that have one
    gpu_addresses: tuple[str, ...] = ()  # /proc/driver/nvidia/gpus/*
    gpu_minors: tuple[int, ...] = ()  # device minors of those GPUs (/dev/nvidia<minor>); empty if device files are missing


@probe(level=Level.NODE)
def read(host: Host) -> KernelModule:
    """Read /proc/driver/nvidia, /sys/module/nvidia*, /proc/modules and /lib/modules."""
    if host.platform != "linux":
        return KernelModule()
    text = host.read("/proc/driver/nvidia/version")
    match = re.search(VERSION, text or "")
    listed = host.read("/proc/modules")
    modules = None if listed is None else {line.partition(" ")[0] for line in listed.splitlines()}
    built_in = set(host.names("/sys/module"))
    if built_in:
        modules = built_in | (modules or set())
    loaded = True if text is not None else _has(modules, "nvidia")
    release = host.uname()[1]
    installed = _installed(host)
    addresses = host.names("/proc/driver/nvidia/gpus")
    return KernelModule(
        loaded=loaded,
        version=match[1] if match else (host.read("/sys/module/nvidia/version") or "").strip() or None,
        open_source="Open Kernel Module" in text if text and match else None,
        uvm_loaded=_has(modules, "nvidia_uvm"),
        nouveau_loaded=_has(modules, "nouveau"),
        installed_for_running_kernel=release in installed if host.names(f"/lib/modules/{release}") else None,
        installed_for_kernels=tuple(sorted(installed - {release})),
        gpu_addresses=tuple(address.lower() for address in addresses),
        gpu_minors=found if len(found := minors(host)) == len(addresses) else (),
    )


def minors(host: Host) -> tuple[int, ...]:
    """Return the minors of the GPUs' device files, ascending: 0 for /dev/nvidia0.

    /proc/driver/nvidia/gpus/*/information is not read: it waits for the driver's lock, and where the driver hangs, a process
    that reads it can't even be killed.
    """
    matches = (re.fullmatch(r"nvidia(\d+)", name) for name in host.names("/dev"))
    return tuple(sorted(int(match[1]) for match in matches if match))


def _has(modules: set[str] | None, name: str) -> bool | None:
    return None if modules is None else name in modules


def _installed(host: Host) -> set[str]:
    """Return the kernel releases that have an NVIDIA module."""
    return {
        path.split("/")[3]
        for folder in FOLDERS
        for path in host.glob(f"/lib/modules/*/{folder}/nvidia*.ko*")
        if re.fullmatch(FILE, path.rpartition("/")[2])
    }
