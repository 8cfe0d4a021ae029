"""This process can't see an NVIDIA GPU on this machine.

Symptom:
    No devices were found
    tf.config.list_physical_devices("GPU") returns []
    failed call to cuInit: UNKNOWN ERROR (303)
    - Could not find cuda drivers on your machine, GPU will not be used.
Cause:
    No NVIDIA device is on the PCI bus. The machine has no such GPU, the virtual machine was created without one, passthrough
    is off, or the card is broken, unpowered or not seated. A container shows its host's bus, so this also applies inside one.
Verify:
    lspci -d 10de: prints one line per GPU.
Unless:
    The machine should train on its CPU: with --allow-cpu this is not an error. Neither is it with only --strategy tpu or
    parameter_server, which train without a GPU.
Example:
    pci.gpus = []
    kernel_module = {"loaded": false, "nouveau_loaded": false}
    container = {"inside": false}
    device_nodes = {"control": {"path": "/dev/nvidiactl", "present": false}, "uvm": {"path": "/dev/nvidia-uvm", "present": false}}
    driver = {"status": "library-not-found", "problem": "libnvidia-ml.so.1: cannot open shared object file"}
    gpus.gpus = []
    cuda = {"status": "library-not-found", "problem": "libcuda.so.1: cannot open shared object file"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> No NVIDIA GPU: none is on the PCI bus of this machine.
References:
    https://www.tensorflow.org/install/pip
"""

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.compat.nvml import GPU_NOT_FOUND
from gpucheck.core.model import Finding, Fix, Fixes, Level, Request, Scope, Skip, rule, saw
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import ALLOW_CPU, EXPECT_NO_GPU, IF_GPU_PRESENT, OUT_OF_SERVICE
from gpucheck.core.repairs.machine import START_WITH_GPUS, install_driver, notebook_gpu, restart
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA


@rule(scope=Scope.HARDWARE, explains=(*WITHOUT_CUDA, "cuda-stub-loaded", "tensorflow-cpu-build"))
def check(stack: CudaStack, pci: Pci, request: Request, system: System, tpu: Tpu, context: Context) -> Finding | Skip | None:
    """Report that the PCI bus has no NVIDIA GPU, if no layer above shows one."""
    if not request.needs_gpu or system.platform != "linux" or tpu.expected:
        return None
    if stack.kernel_responds or stack.counts_gpus:
        return None
    if pci.gpus or pci.amd_gpus or stack.wsl.inside:
        return None  # driver-missing, rocm-gpu-unsupported and wsl-misconfigured report these
    if stack.container_requests_gpu:
        return None  # container-without-gpu; without a request, the host's PCI bus decides
    if not pci.readable:
        return Skip("the PCI bus is not readable here")
    if {"hung", "crashed"} & {stack.driver.status, stack.cuda.status}:
        return Skip("queries to the driver crash or hang, so there is a device that the bus does not show")
    return Finding(
        summary="No NVIDIA GPU: none is on the PCI bus of this machine.",
        evidence=(*saw(pci, "gpus"), *saw(stack.driver, "status"), *saw(stack.cuda, "status")),
        fix=repairs(
            context,
            absent=True,
            node=request.level is Level.NODE,
            promised=bool(request.promised and request.promised.count),
        ),
    )


def repairs(
    context: Context,
    *,
    absent: bool = False,
    node: bool = False,
    promised: bool = False,
    code: str = "",
    text: str = "",
    unharmed: str = "",
) -> Fixes:
    """Use a machine with a GPU, or make the driver use the existing one.

    Args:
        context: what is known about the machine.
        absent: whether the PCI bus was read and has no GPU.
        node: whether the run checks a node of a cluster.
        promised: whether a scheduler assigns GPUs of this node, so that it should have some.
        code: the code of CUDA's or NVML's error; "28" if the driver found no GPU that it can use.
        text: the line that reports it.
        unharmed: "yes" if the program continued, and nothing in its log needs a GPU.
    """
    if unharmed and not context.notebook:
        yield IF_GPU_PRESENT
        return
    yield from notebook_gpu(context)
    if code == str(GPU_NOT_FOUND) and not context.notebook:
        yield from restart(context)
    elif not (absent or context.notebook or "NVRM" in text):
        yield from install_driver(context, "If there is an NVIDIA GPU, install its driver")
    if promised:
        yield OUT_OF_SERVICE
    elif not context.notebook:
        yield Fix(text="Use a machine or instance type with an NVIDIA GPU")
        yield from context.only(START_WITH_GPUS["kubernetes"], container="kubernetes") if context.container else ()
    if not promised:
        yield EXPECT_NO_GPU if node else ALLOW_CPU
    if not (context.notebook or context.windows):
        yield Fix.look("List NVIDIA devices on the bus", "lspci -d 10de:")
