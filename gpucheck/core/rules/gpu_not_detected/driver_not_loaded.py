"""The NVIDIA driver is installed, but the GPU does not use it.

Symptom:
    NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
    NVML: Driver Not Loaded
    kernel driver does not appear to be running on this host: /proc/driver/nvidia/version does not exist
    modprobe: FATAL: Module nvidia not found in directory /lib/modules/...
    NVRM: This PCI I/O region assigned to your NVIDIA device is invalid
    NVRM: The NVIDIA GPU is not supported by the open nvidia.ko
    - No devices were found
Cause:
    A new kernel was installed and the module was not built for it; Secure Boot rejected the module because it is not signed;
    nouveau uses the card; the card is passed to a virtual machine (vfio-pci); or the module is loaded but does not support this
    old GPU: the open module supports no GPU before Turing, and branch 590 and later drop Maxwell, Pascal and Volta.
Verify:
    lspci -k -d 10de: prints "Kernel driver in use: nvidia", and nvidia-smi prints its table.
Unless:
    The GPU belongs to a virtual machine: then train inside that machine.
Example:
    container = {"inside": false}
    system.kernel = "6.8.0-88-generic"
    pci.gpus[0].kernel_driver = null
    kernel_module = {"loaded": false, "uvm_loaded": false, "nouveau_loaded": false, "installed_for_running_kernel": false, "installed_for_kernels": ["6.8.0-45-generic"]}
    device_nodes = {"control": {"path": "/dev/nvidiactl", "present": false}, "uvm": {"path": "/dev/nvidia-uvm", "present": false}}
    driver = {"status": "failed", "result": 9, "result_name": "NVML_ERROR_DRIVER_NOT_LOADED", "problem": "Driver Not Loaded", "library": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.159.04"}
    gpus.gpus = []
    cuda = {"status": "failed", "result": 999, "result_name": "CUDA_ERROR_UNKNOWN", "library": "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> The NVIDIA driver is not loaded: its kernel module was built for 6.8.0-45-generic, but the running kernel is 6.8.0-88-generic.
References:
    https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
    https://github.com/NVIDIA/open-gpu-kernel-modules
"""

import re

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.compat import versions
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import DRIVER_NOT_LOADED, listing
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.system import System
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.machine import by_distribution, install_driver, notebook_gpu
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_FIRST_MAXWELL = 0x1340
_FIRST_TURING = 0x1E00  # pci.ids: the id of TU102 (1e02); all later NVIDIA GPUs have higher ids, Volta and earlier lower ones
_FIRST_BRANCH_FROM_TURING = 590
_LAST_BRANCH_BEFORE_TURING, _LAST_BRANCH_BEFORE_MAXWELL = 580, 470
_KEY_OF_UBUNTU, _KEY_OF_DKMS = "/var/lib/shim-signed/mok/MOK.der", "/var/lib/dkms/mok.pub"
_KEY_OF_AKMODS = "/etc/pki/akmods/certs/public_key.der"
_SECURE_BOOT = Fix.look("Check whether Secure Boot is on, which rejects a module that is not signed", "mokutil --sb-state")
_READ = Fix.look("Read the driver's messages about the GPU", "sudo dmesg | grep -i nvrm")


@rule(scope=Scope.HOST, explains=(*WITHOUT_CUDA, "cuda-stub-loaded", "container-without-gpu", "device-nodes-missing"))
def check(stack: CudaStack, pci: Pci, system: System, kernel_module: KernelModule, context: Context) -> Finding | Skip | None:
    """Report a GPU that the nvidia module does not drive, although a part of the driver is installed."""
    gpus = pci.gpus
    if stack.wsl.inside or not gpus or stack.driver.gpu_count or stack.counts_gpus or stack.container_lacks_gpu:
        return None
    if kernel_module.loaded is None:
        return Skip("the list of loaded kernel modules could not be read")
    if "nvidia" in {gpu.kernel_driver for gpu in gpus}:
        return None
    reserved = all(gpu.kernel_driver == "vfio-pci" for gpu in gpus)
    if not (reserved or kernel_module.loaded or _installed(stack, kernel_module)):
        return None  # driver-missing
    summary, given = _reason(pci, system, kernel_module)
    return Finding(
        summary=summary,
        evidence=(
            *saw(pci, "gpus[0].address", "gpus[0].kernel_driver"),
            *saw(kernel_module, "loaded", "installed_for_running_kernel", "installed_for_kernels"),
            *saw(stack.driver, "status", "result_name"),
        ),
        fix=repairs(context, **given),
    )


def _installed(stack: CudaStack, module: KernelModule) -> bool:
    """Whether any part of the driver is installed."""
    return bool(module.installed_for_running_kernel or module.installed_for_kernels) or not stack.lacks_libraries


def _reason(pci: Pci, system: System, module: KernelModule) -> tuple[str, dict[str, str]]:
    """Return the summary, and the arguments of the repairs."""
    gpus, kernel = pci.gpus, system.kernel
    holders = {gpu.kernel_driver for gpu in gpus}
    addresses = listing([gpu.address for gpu in gpus])
    if holders == {"vfio-pci"}:
        plural, are, them = ("s", "are", "them") if len(gpus) > 1 else ("", "is", "it")
        why = f"{are} reserved for virtual machines: vfio-pci uses {them}"
        return f"The NVIDIA GPU{plural} on the bus ({addresses}) {why}.", {"reason": "vfio-pci", "device": gpus[0].address}
    if module.loaded:
        return _not_bound(pci, module)
    if "nouveau" in holders:
        return (
            "The NVIDIA driver is installed, but not loaded: the GPU uses the nouveau driver, which cannot run CUDA.",
            {"reason": "nouveau"},
        )
    if module.installed_for_running_kernel is False:
        running = f"the running kernel is {kernel}" if kernel else "another kernel is running"
        built = listing(list(module.installed_for_kernels))
        why = "its libraries are installed, but not a kernel module for the running kernel"
        why = f"its kernel module was built for {built}, but {running}" if built else why
        return f"The NVIDIA driver is not loaded: {why}.", {"reason": "not-built"}
    return DRIVER_NOT_LOADED, {}


def _not_bound(pci: Pci, module: KernelModule) -> tuple[str, dict[str, str]]:
    """Return why no GPU is bound to the loaded module: another driver uses it, or the GPU is not supported."""
    gpus = pci.gpus
    holder, version, address = gpus[0].kernel_driver, module.version or "", listing([gpu.address for gpu in gpus])
    name = f"The NVIDIA driver {version}".rstrip()
    if holder is not None:
        reason = holder if holder == "nouveau" else "held"
        return f"{name} is loaded, but {holder} uses the GPU at {gpus[0].address}.", {"reason": reason, "holder": holder}
    branch = (versions.parse(version) or (0,))[0]
    old = all(_before_turing(gpu.device_id) for gpu in gpus)
    if not old or not (module.open_source or branch >= _FIRST_BRANCH_FROM_TURING):
        return f"{name} is loaded, but does not use the GPU at {address}.", {"reason": "refused"}
    kind = "open kernel module" if module.open_source else "driver"
    given = {"reason": "unsupported", "driver": version, "pci_id": gpus[0].device_id}
    return f"The NVIDIA {kind} {version} does not support the GPU at {address}, which is older than Turing.", given


def _before_turing(device_id: str) -> bool:
    return int(device_id, 16) < _FIRST_TURING


def repairs(
    context: Context,
    *,
    reason: str = "",
    message: str = "",
    driver: str = "",
    legacy: str = "",
    pci_id: str = "",
    holder: str = "",
    device: str = "",
) -> Fixes:
    """Make the driver use the GPU.

    Args:
        context: what is known about the machine.
        reason: why the driver does not use it: "not-built", "build-failed", "signature", "nouveau", "no-device", "open-module",
            "unsupported", "refused", "held", "vfio-pci", "region"; empty if unknown.
        message: the message that reports it.
        driver: version of the driver that does not support the GPU.
        legacy: the branch that supports the GPU, from the message: "470".
        pci_id: the GPU's device identifier: "2b85".
        holder: the driver that uses the GPU.
        device: the GPU's address on the bus.
    """
    if context.windows or context.in_wsl:
        yield from install_driver(context, "Install NVIDIA's driver again")
        return
    if context.notebook:
        yield from notebook_gpu(context)
        return
    if reason == "vfio-pci":
        yield Fix(text="Train inside the virtual machine that has the GPU")
        yield Fix(text="Or stop that machine, and remove the vfio-pci binding from the boot options")
        yield Fix.look("Check which driver uses it", f"lspci -k -s {device}")
    elif reason == "nouveau":
        yield from _without_nouveau(context)
    elif reason == "held":
        yield Fix(text=f"Release the GPU from {holder}")
    elif reason == "region":
        yield Fix(
            text='Enable "Above 4G Decoding" in the firmware (BIOS), or in the virtual machine\'s settings: the GPU got no addresses for its'
            " memory",
            needs=("reboot",),
        )
        yield Fix(text="Or boot the kernel with the parameter pci=realloc", needs=("reboot",))
    elif reason == "open-module":
        yield from _install(context, driver, "-open")
    elif reason in ("unsupported", "refused") or legacy:
        yield from _other_branch(context, driver, legacy, pci_id)
    else:
        yield from _load(context, reason, message)


def _load(context: Context, reason: str, message: str) -> Fixes:
    load = Fix(
        text="Load the module, and read the kernel's messages if that fails",
        command='sudo modprobe nvidia || sudo dmesg | grep -i -E "nvrm|nvidia|nouveau|lockdown" | tail',
    )
    if re.search(r"nvidia[_-]uvm", message):
        yield Fix(text="Load the module that CUDA also needs", command="sudo modprobe nvidia-uvm")
    elif reason == "signature":
        yield from _signed(context)
    elif reason == "no-device":
        yield _READ
        yield from install_driver(context, "Install the driver that supports this GPU")
    elif reason == "build-failed":
        yield Fix(
            text="Boot the kernel that the module was built for (in the boot menu, under advanced options)", needs=("reboot",)
        )
        yield from install_driver(context, "Or install a newer driver, which supports this kernel")
        yield Fix.look("Check why the build failed", "tail -n 30 /var/lib/dkms/nvidia/*/build/make.log")
    elif reason == "not-built":
        yield from _build(context)
        yield load
    else:
        yield load
        yield from _build(context)
        yield _SECURE_BOOT


def _build(context: Context) -> Fixes:
    """Build the module for the running kernel."""
    text = "Build the module for the running kernel (or boot the kernel that it was built for)"
    dkms = "sudo dkms autoinstall && sudo modprobe nvidia"
    commands = {
        "ubuntu|debian|linuxmint": f"sudo apt-get install -y linux-headers-$(uname -r) && {dkms}",
        "fedora": "sudo dnf install -y kernel-devel-$(uname -r) && sudo akmods --force && sudo modprobe nvidia",
        "rhel|rocky|almalinux": f"sudo dnf install -y kernel-devel-$(uname -r) && {dkms}",
    }
    yield from by_distribution(context, text, commands, dkms)


def _signed(context: Context) -> Fixes:
    """Let the kernel accept the module's signature."""
    enrol = "Enroll the key that the module is signed with, restart, and confirm it on the firmware's blue screen"
    keys = {"ubuntu|linuxmint": _KEY_OF_UBUNTU, "debian": _KEY_OF_DKMS, "fedora": _KEY_OF_AKMODS}
    for names, key in keys.items():
        fix = Fix(text=enrol, command=f"sudo mokutil --import {key}", needs=("reboot",))
        yield from context.only(fix, distribution=names)
    yield Fix(text="Or disable Secure Boot in the firmware's settings", needs=("reboot",))
    yield _SECURE_BOOT


def _other_branch(context: Context, driver: str, legacy: str, pci_id: str) -> Fixes:
    """Install a driver that supports the GPU: an older one for an old GPU, else a newer one."""
    if legacy:
        yield from _install(context, legacy)
    elif pci_id and _before_turing(pci_id):
        last = _LAST_BRANCH_BEFORE_MAXWELL if int(pci_id, 16) < _FIRST_MAXWELL else _LAST_BRANCH_BEFORE_TURING
        yield from _install(context, str(min((versions.parse(driver) or (last,))[0], last)))
    elif pci_id:
        yield from install_driver(context, "Install a newer NVIDIA driver")
    else:
        yield Fix(text="Install the driver branch that the kernel's message requests: a legacy one, or a newer one")
    yield _READ


def _install(context: Context, version: str, suffix: str = "") -> Fixes:
    """Install a branch of the driver, with its open or its proprietary kernel modules."""
    branch = (versions.parse(version) or (_LAST_BRANCH_BEFORE_TURING,))[0]
    kind = "open" if suffix else "proprietary"
    text = f"Install driver branch {branch} with its {kind} kernel modules, then restart the machine"
    command = f"sudo apt-get install -y nvidia-driver-{branch}{suffix}"
    yield from context.only(Fix(text=text, command=command, needs=("reboot",)), distribution="ubuntu|linuxmint")
    if context.kinds["distribution"] not in ("ubuntu", "linuxmint"):
        yield Fix(text=text, needs=("reboot",))


def _without_nouveau(context: Context) -> Fixes:
    block = r"printf 'blacklist nouveau\noptions nouveau modeset=0\n' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf"
    dracut = f"{block} && sudo dracut --force"
    commands = {"ubuntu|debian|linuxmint": f"{block} && sudo update-initramfs -u", "fedora|rhel|rocky|almalinux": dracut}
    yield from by_distribution(context, "Disable nouveau, then restart the machine", commands, dracut, ("reboot",))
