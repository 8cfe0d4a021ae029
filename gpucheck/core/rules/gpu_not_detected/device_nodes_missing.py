"""The NVIDIA driver is loaded, but a device file under /dev that CUDA needs is missing.

Symptom:
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error
    ls: cannot access '/dev/nvidia-uvm': No such file or directory
    - Unable to determine the device handle for GPU
Cause:
    CUDA opens /dev/nvidiactl, /dev/nvidia-uvm and one /dev/nvidia<N> per GPU. The kernel module does not create them:
    nvidia-modprobe does, started by a udev rule of the distribution's driver package (71-nvidia.rules) or at first use, or
    nvidia-persistenced at boot. Files are missing if the driver was installed without these, in a chroot, or in a container that
    got only some of the files. Without nvidia-uvm, cuInit fails with 999; without the others, with 100.
Verify:
    ls /dev/nvidiactl /dev/nvidia-uvm /dev/nvidia0 prints all three.
Unless:
    Never on Linux with a GPU; WSL2 does not have or need these files.
Example:
    container = {"inside": false}
    kernel_module.uvm_loaded = false
    device_nodes.uvm = {"path": "/dev/nvidia-uvm", "present": false}
    cuda = {"status": "failed", "result": 999, "result_name": "CUDA_ERROR_UNKNOWN", "library": "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> CUDA can't be initialized because /dev/nvidia-uvm is missing (the kernel module nvidia-uvm is not loaded).
References:
    https://docs.nvidia.com/cuda/cuda-installation-guide-linux/ (Device Node Verification)
    https://github.com/NVIDIA/nvidia-modprobe
"""

import re

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.compat import cuda as cuda_tables
from gpucheck.core.model import Finding, Fix, Fixes, Scope, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.device_nodes import DeviceNode
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.machine import START_WITH_GPUS, notebook_gpu, start_with_gpus
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_NO_DEVICE_BEHIND = ("ENXIO", "ENODEV")
_OF_RUNTIME = r"gathering device information|adding custom device|\bmknod\b|\bstat /dev/"  # the host lacks the file


@rule(scope=Scope.HOST, explains=(*WITHOUT_CUDA, "devices-hidden"))
def check(stack: CudaStack, pci: Pci, kernel_module: KernelModule, context: Context) -> Finding | None:
    """Report a missing device file if CUDA fails; CUDA creates the files itself if nvidia-modprobe is installed."""
    container, cuda = stack.container, stack.cuda
    if not _applies(stack, pci, kernel_module):
        return None
    unusable = _unusable_nodes(stack)
    if not unusable:
        if stack.device_nodes.gpus or not container.inside:
            return None
        unusable = {"gpus": ("/dev/nvidia0", "missing")}  # the expected number is unknown, but there must be one
    paths = [path for path, _ in unusable.values()]
    state = " or ".join(sorted({state for _, state in unusable.values()}))
    not_loaded = "uvm" in unusable and kernel_module.uvm_loaded is False
    reason = " (the kernel module nvidia-uvm is not loaded)" if not_loaded else ""
    return Finding(
        summary=f"CUDA can't be initialized because {listing(paths)} {'are' if len(paths) > 1 else 'is'} {state}{reason}.",
        evidence=(
            *saw(stack.device_nodes, *unusable),
            *saw(kernel_module, "uvm_loaded"),
            *saw(cuda, "status", "result_name"),
        ),
        fix=repairs(context, path=listing(paths)),
    )


def _applies(stack: CudaStack, pci: Pci, kernel_module: KernelModule) -> bool:
    """Whether CUDA fails on a loaded driver with an error that missing files can cause."""
    container, cuda = stack.container, stack.cuda
    if stack.wsl.inside or not kernel_module.loaded or stack.counts_gpus or stack.container_lacks_gpu:
        return False
    if cuda.status not in ("failed", "ok") or cuda.result in cuda_tables.CUDA_ERRORS_WITH_DIAGNOSIS:  # it opened the files
        return False
    if container.inside:  # "none": the runtime passed in everything except GPUs, as requested
        return container.nvidia_visible_devices != "none"
    return bool(pci.gpus or kernel_module.gpu_addresses)


def _unusable_nodes(stack: CudaStack) -> dict[str, tuple[str, str]]:
    """Return the unusable device files by field: the path and its state."""
    device_nodes = stack.device_nodes
    nodes = {"control": device_nodes.control}
    if stack.cuda.result != cuda_tables.CUDA_ERROR_NO_DEVICE:
        nodes["uvm"] = device_nodes.uvm  # without it CUDA returns 999, never 100
    # one good GPU is enough for CUDA to count it, so the others are not the cause
    if all(_unusable(node) for node in device_nodes.gpus):
        nodes |= {f"gpus[{place}]": node for place, node in enumerate(device_nodes.gpus)}
    return {field: (node.path, state) for field, node in nodes.items() if (state := _unusable(node))}


def _unusable(node: DeviceNode) -> str | None:
    """Return the state of an unusable device file; device-permission-denied reports permissions."""
    if not node.present:
        return "missing"
    if node.regular_file:
        return "an ordinary file instead of a device"
    return "without a device behind it" if node.error in _NO_DEVICE_BEHIND else None


def repairs(context: Context, *, path: str = "", text: str = "") -> Fixes:
    """Create the device files, or pass them into the container.

    Args:
        context: what is known about the machine.
        path: the missing file: "/dev/nvidia-uvm"; empty if unknown.
        text: the line that reports it.
    """
    if context.notebook:
        yield from notebook_gpu(context)
        return
    if context.in_container and not re.search(_OF_RUNTIME, text):
        yield from start_with_gpus(context)
        yield Fix.look("Check which device files the machine has (run it outside the container)", "ls -l /dev/nvidia*")
        return
    load = "sudo modprobe nvidia-uvm && " if "uvm" in path or not path else ""
    yield Fix(text="Create the device files now", command=f"{load}sudo nvidia-modprobe -u -c=0")
    yield Fix(text="Create them at every boot", command="sudo systemctl enable --now nvidia-persistenced")
    if context.container is None:
        yield from context.only(START_WITH_GPUS["docker"], container="docker")
