"""The machine has no NVIDIA GPU that this process could see.

Symptom:
    No devices were found
    tf.config.list_physical_devices("GPU") returns []
    failed call to cuInit: UNKNOWN ERROR (303)
    Could not find cuda drivers on your machine, GPU will not be used.
Cause:
    No NVIDIA device is on the PCI bus. The machine has no such GPU, the virtual machine was created without one, passthrough
    is off, or the card is dead, unpowered or not seated. A container shows its host's bus, so this holds inside one too.
Fix:
    1. On a cloud, choose an instance type with a GPU; on Kubernetes, request one: resources.limits["nvidia.com/gpu"]: 1
    2. On your own machine, look at the bus: lspci -d 10de:
    3. If the CPU is meant to be enough: gpucheck --allow-cpu
Verify:
    lspci -d 10de: prints one line per GPU.
Unless:
    The machine is meant to train on its CPU: say so with --allow-cpu, and this is no fault. Nor is it with --strategy tpu or
    parameter_server alone, which train without a GPU.
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

from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.plugin import rule
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.log import Log
from gpucheck.probes.pci import Pci
from gpucheck.probes.system import System
from gpucheck.probes.tpu import Tpu
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._driver import WITHOUT_CUDA, kernel_answers
from gpucheck.rules._log import cite, stated
from gpucheck.rules._start import CPU_IS_ENOUGH, NO_DEVICE, NO_LIBRARY, ending, unserved


@rule(
    severity=Severity.ERROR,
    scope=Scope.HARDWARE,
    explains=(*WITHOUT_CUDA, "cuda-stub-loaded", "tensorflow-cpu-build"),
)
def check(
    request: Request,
    system: System,
    wsl: Wsl,
    container: Container,
    pci: Pci,
    driver: Driver,
    cuda: Cuda,
    tpu: Tpu,
) -> Finding | Skip | None:
    """No function on the bus, and no layer above that works without one."""
    if not request.needs_gpu or system.platform != "linux" or kernel_answers(driver) or cuda.device_count or tpu.expected:
        return None
    if pci.gpus or pci.amd_gpus or wsl.inside:
        return None  # driver-missing, rocm-gpu-unsupported and wsl-misconfigured have their own pages
    if container.inside and container.gpu_requested:
        return None  # container-without-gpu; without a request the bus decides, which a container shares with its host
    if not pci.readable:
        return Skip("the PCI bus is not readable here")
    if {"hung", "crashed"} & {driver.status, cuda.status}:
        return Skip("the driver ends or holds up whoever asks it, so something is there that the bus does not show")
    return Finding(
        summary="No NVIDIA GPU: none is on the PCI bus of this machine.",
        evidence=(*saw(pci, "gpus"), *saw(driver, "status"), *saw(cuda, "status")),
        fix=(
            Fix(
                text="Use a machine or instance type with an NVIDIA GPU; look at the bus first",
                command="lspci -d 10de:",
            ),
            Fix(text="If training on the CPU is what you want, say so", command="gpucheck --allow-cpu"),
        ),
    )


def in_log(log: Log) -> Finding | None:
    """The driver's own word, or what follows from the log as a whole. A job that needs no GPU may be meant to have none."""
    absent = unserved(log, "gpu-absent")
    end = ending(log)
    if absent:
        summary, told, wanted = "No NVIDIA GPU: the driver found none on the bus.", absent, True
    elif said := stated(log, "no-nvidia-gpu"):
        summary, told, wanted = "No NVIDIA GPU was found.", said, False
    elif end is None or end.code != "no-nvidia-gpu":
        return None
    else:
        told, wanted = end.events, end.wanted
        if end.result == NO_LIBRARY:
            summary = "No NVIDIA GPU was found: CUDA has no driver to talk to (303), and nothing in the log tells of a GPU."
        elif end.result == NO_DEVICE:
            summary = "No NVIDIA GPU was found: the driver's library is installed, and no driver runs below it (CUDA error 100)."
        else:
            summary = "No NVIDIA GPU was found: nvidia-smi lists none."
    return Finding(
        summary=summary,
        evidence=cite(*told),
        fix=(
            Fix(text="Look whether the machine has one, outside of any container", command="lspci -d 10de:"),
            Fix(text="If it has: install the driver, or load it", command="nvidia-smi || sudo modprobe nvidia"),
            CPU_IS_ENOUGH,
        ),
        severity=None if wanted else Severity.WARNING,
    )
