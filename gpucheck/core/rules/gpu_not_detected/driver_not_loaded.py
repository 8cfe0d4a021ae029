"""The NVIDIA driver is installed, but the GPU does not use it.

Symptom:
    NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
    NVML: Driver Not Loaded
    kernel driver does not appear to be running on this host: /proc/driver/nvidia/version does not exist
    modprobe: FATAL: Module nvidia not found in directory /lib/modules/...
    NVRM: This PCI I/O region assigned to your NVIDIA device is invalid
    NVRM: The NVIDIA GPU is not supported by the open nvidia.ko
    No devices were found
Cause:
    A new kernel was installed and the module was not built for it; Secure Boot rejected the module because it is not signed;
    nouveau uses the card; the card is passed to a virtual machine (vfio-pci); or the module is loaded but does not support this
    old GPU: the open module supports no GPU before Turing, and branch 590 and later drop Maxwell, Pascal and Volta.
Fix:
    1. Load it, and read the kernel's messages
       $ sudo modprobe nvidia; sudo dmesg | grep -i -E "nvrm|xid|nvidia|nouveau" | tail
    2. After a kernel update: build the module for the running kernel (Fedora and RHEL: dnf install kernel-devel)
       $ sudo apt-get install -y linux-headers-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia
    3. If the key was rejected: enrol it (sudo mokutil --import ...), or disable Secure Boot in the firmware
       needs: sudo
    4. Check whether Secure Boot is on
       ? mokutil --sb-state
    5. For a GPU from Blackwell on, and for Grace Hopper: install the driver with its open kernel modules (Ubuntu's packages for that
       end in -open), then restart the machine
       needs: reboot
    6. List the drivers that Ubuntu has for it
       ? sudo ubuntu-drivers list --gpgpu
    7. For a GPU before Turing: install the last branch that supports it, such as nvidia-driver-580, in its proprietary form
Verify:
    lspci -k -d 10de: says "Kernel driver in use: nvidia", and nvidia-smi prints its table.
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

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.compat import versions
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.probes.pci import PciFunction
from gpucheck.core.probes.system import System
from gpucheck.core.repairs.wording import listing
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_STUB_LIBRARY = 34
_FIRST_TURING = 0x1E00  # pci.ids: every NVIDIA display device from TU102 (1e02) on lies above, all of Volta and before below
_FIRST_BRANCH_FROM_TURING = 590
_LAST_BRANCH_BEFORE_TURING = 580


@rule(
    severity=Severity.ERROR,
    scope=Scope.HOST,
    explains=(*WITHOUT_CUDA, "cuda-stub-loaded", "container-without-gpu", "device-nodes-missing"),
)
def check(stack: CudaStack, kernel_module: KernelModule) -> Finding | Skip | None:
    """Report a GPU that the nvidia module does not drive, although a part of the driver is installed."""
    gpus = stack.pci.gpus
    if stack.wsl.inside or not gpus or stack.driver.gpu_count or stack.counts_gpus or stack.given_no_gpu:
        return None
    if kernel_module.loaded is None:
        return Skip("the list of loaded kernel modules could not be read")
    holders = {gpu.kernel_driver for gpu in gpus}
    if "nvidia" in holders:
        return None
    if holders == {"vfio-pci"}:
        text, fixes = _passed_through(gpus)
    elif kernel_module.loaded:
        text, fixes = _not_taken(gpus, kernel_module, stack.system)
    elif _installed(stack, kernel_module):
        text, fixes = _not_loaded(gpus, kernel_module, stack.system)
    else:
        return None  # driver-missing
    return Finding(
        summary=text,
        evidence=(
            *saw(stack.pci, "gpus[0].address", "gpus[0].kernel_driver"),
            *saw(kernel_module, "loaded", "installed_for_running_kernel", "installed_for_kernels"),
            *saw(stack.driver, "status", "result_name"),
        ),
        fix=fixes,
    )


def _installed(stack: CudaStack, module: KernelModule) -> bool:
    """Whether any part of the driver is installed."""
    cuda = stack.cuda
    return bool(
        module.installed_for_running_kernel
        or module.installed_for_kernels
        or stack.driver.status != "library-not-found"
        or (cuda.status != "library-not-found" and cuda.result != _STUB_LIBRARY)
    )


def _passed_through(gpus: tuple[PciFunction, ...]) -> tuple[str, tuple[Fix, ...]]:
    plural, are, them = ("s", "are", "them") if len(gpus) > 1 else ("", "is", "it")
    return (
        f"The NVIDIA GPU{plural} on the bus ({listing([gpu.address for gpu in gpus])}) {are} reserved for virtual machines:"
        f" vfio-pci uses {them}.",
        (
            Fix(text="Train inside the virtual machine that has the GPU"),
            Fix(text="To use it here, stop that machine, and remove the vfio-pci binding from the boot options"),
            Fix(text="Check which driver uses it", command=f"lspci -k -s {gpus[0].address}", kind="look"),
        ),
    )


def _not_taken(gpus: tuple[PciFunction, ...], module: KernelModule, system: System) -> tuple[str, tuple[Fix, ...]]:
    """Return the reason that no GPU is bound to the loaded module: another driver uses it, or the GPU is not supported."""
    holder = gpus[0].kernel_driver
    version = module.version or ""
    name = f"The NVIDIA driver {version}".rstrip()
    if holder is not None:
        release = _without_nouveau(system) if holder == "nouveau" else Fix(text=f"Release the GPU from {holder}")
        return f"{name} is loaded, but {holder} uses the GPU at {gpus[0].address}.", (release,)
    address = listing([gpu.address for gpu in gpus])
    look = Fix(text="Read why the driver refused it", command="sudo dmesg | grep -i nvrm", kind="look")
    branch = (versions.parse(version) or (0,))[0]
    old = all(int(gpu.device_id, 16) < _FIRST_TURING for gpu in gpus)
    if not old or not (module.open_source or branch >= _FIRST_BRANCH_FROM_TURING):
        legacy = Fix(text="If it says that the GPU needs a legacy or a newer driver, install that branch")
        return f"{name} is loaded, but does not use the GPU at {address}.", (look, legacy)
    kind = "open kernel module" if module.open_source else "driver"
    wanted = min(branch, _LAST_BRANCH_BEFORE_TURING) or _LAST_BRANCH_BEFORE_TURING
    install = Fix(
        text=f"Install the proprietary driver of branch {wanted} instead, then restart the machine",
        command=f"sudo apt-get install -y nvidia-driver-{wanted}" if system.os_id == "ubuntu" else None,
        needs=("reboot",),
    )
    return f"The NVIDIA {kind} {version} does not support the GPU at {address}, which is older than Turing.", (install, look)


def _not_loaded(gpus: tuple[PciFunction, ...], module: KernelModule, system: System) -> tuple[str, tuple[Fix, ...]]:
    load = Fix(
        text="Load it, and read the kernel's messages (Secure Boot rejects an unsigned module)",
        command='sudo modprobe nvidia || sudo dmesg | grep -i -E "nvrm|nvidia|nouveau|lockdown" | tail',
    )
    if any(gpu.kernel_driver == "nouveau" for gpu in gpus):
        return (
            "The NVIDIA driver is installed, but not loaded: the GPU uses the nouveau driver, which cannot run CUDA.",
            (_without_nouveau(system),),
        )
    if module.installed_for_running_kernel is False:
        running = f"the running kernel is {system.kernel}" if system.kernel else "another kernel is running"
        built = listing(list(module.installed_for_kernels))
        reason = (
            f"its kernel module was built for {built}, but {running}"
            if built
            else "its libraries are installed, but not a kernel module for the running kernel"
        )
        return f"The NVIDIA driver is not loaded: {reason}.", (_build(system), load)
    return "The NVIDIA driver is installed, but its kernel module is not loaded.", (load,)


def _build(system: System) -> Fix:
    headers = {
        **dict.fromkeys(("ubuntu", "debian"), "sudo apt-get install -y linux-headers-$(uname -r)"),
        **dict.fromkeys(("fedora", "rhel", "rocky", "almalinux"), "sudo dnf install -y kernel-devel-$(uname -r)"),
    }.get(system.os_id or "")
    build = "sudo dkms autoinstall && sudo modprobe nvidia"
    return Fix(
        text="Build the module for the running kernel (or start the kernel that it was built for)",
        command=f"{headers} && {build}" if headers else build,
    )


def _without_nouveau(system: System) -> Fix:
    image = "sudo update-initramfs -u" if system.os_id in ("ubuntu", "debian", "linuxmint") else "sudo dracut --force"
    return Fix(
        text="Disable nouveau, then restart the machine",
        command="printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf"
        f" && {image}",
        needs=("reboot",),
    )
