"""The machine has an NVIDIA GPU, but no NVIDIA driver is installed.

Symptom:
    nvidia-smi: command not found
    - failed call to cuInit: UNKNOWN ERROR (303)
    Could not find cuda drivers on your machine, GPU will not be used.
    OSError: libcuda.so.1: cannot open shared object file: No such file or directory
Cause:
    The card is present, but neither NVIDIA's kernel module nor its libraries (libcuda.so.1, libnvidia-ml.so.1) are installed.
    CUDA wheels and toolkits do not include a driver. Linux's own nouveau driver can drive a display, but cannot run CUDA.
Verify:
    nvidia-smi prints a table with one box per GPU.
Unless:
    The GPU is only used for a display, and training runs on another machine.
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
    -> No NVIDIA driver is installed for the GPU on the PCI bus (0000:00:06.0); it uses nouveau, which cannot run CUDA.
References:
    https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/
"""

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import ALLOW_CPU, IF_GPU_PRESENT, for_another_machine
from gpucheck.core.repairs.machine import START_WITH_GPUS, install_driver, notebook_gpu
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA


@rule(scope=Scope.HOST, explains=(*WITHOUT_CUDA, "cuda-stub-loaded", "driver-not-loaded", "device-nodes-missing"))
def check(stack: CudaStack, pci: Pci, kernel_module: KernelModule, context: Context) -> Finding | Skip | None:
    """Report a GPU without the driver's kernel module and without its libraries."""
    driver, cuda = stack.driver, stack.cuda
    if stack.wsl.inside or stack.container.inside or driver.gpu_count or stack.counts_gpus:
        return None
    if all(gpu.kernel_driver == "vfio-pci" for gpu in pci.gpus):
        return None  # no GPU, or all are passed to a virtual machine, which driver-not-loaded reports
    if not stack.lacks_libraries:
        return None
    if kernel_module.loaded or kernel_module.installed_for_running_kernel or kernel_module.installed_for_kernels:
        return None
    if kernel_module.loaded is None:
        return Skip("the list of loaded kernel modules could not be read")
    many = len(pci.gpus) > 1
    gpus = f"{'GPUs' if many else 'GPU'} on the PCI bus ({listing([gpu.address for gpu in pci.gpus])})"
    nouveau = any(gpu.kernel_driver == "nouveau" for gpu in pci.gpus)
    held = f"; {'they use' if many else 'it uses'} nouveau, which cannot run CUDA" if nouveau else ""
    return Finding(
        summary=f"No NVIDIA driver is installed for the {gpus}{held}.",
        evidence=(
            *saw(pci, "gpus[0].address", "gpus[0].kernel_driver"),
            *saw(kernel_module, "loaded", "installed_for_running_kernel"),
            *saw(driver, "status"),
            *saw(cuda, "status"),
        ),
        fix=repairs(context, device=pci.gpus[0].address),
    )


def repairs(context: Context, *, device: str = "", unharmed: str = "", text: str = "") -> Fixes:
    """Install the driver.

    Args:
        context: what is known about the machine.
        device: the GPU's address on the bus; empty if it is unknown whether there is one.
        unharmed: "yes" if the program continued, and nothing in its log needs a GPU.
        text: the line that reports it.
    """
    if "__cuda" in text:
        yield for_another_machine()
    if unharmed and not context.notebook:
        yield IF_GPU_PRESENT
        return
    yield from notebook_gpu(context)
    if "find cuda drivers" in text:  # a missing libcudart also causes this message
        yield context.cuda_libraries().after("If nvidia-smi lists a GPU:")
    driver = list(
        install_driver(context, "Install NVIDIA's driver" if device else "If there is an NVIDIA GPU, install its driver")
    )
    container = [] if device else list(_container(context))
    yield from (*container, *driver) if context.in_container else (*driver[:1], *container, *driver[1:])
    if not device:
        bus = Fix.look("Check whether the machine has an NVIDIA GPU", "lspci -d 10de:")
        yield from () if context.notebook else context.only(bus, system="linux")
        yield ALLOW_CPU


def _container(context: Context) -> Fixes:
    """Start the container with its GPUs, which the runtime passes in with the host's driver; nothing outside containers."""
    host = context.scheduler or any(command.startswith("sudo ") for command in context.tried)
    if context.notebook or context.excludes(system="linux") or (host and not context.in_container):
        return
    kind = context.kinds["container"] or "docker"
    fix = START_WITH_GPUS.get(kind, START_WITH_GPUS["docker"])
    yield from context.only(fix, container=kind)
