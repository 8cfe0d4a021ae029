"""The CUDA toolkit's link-time stub of libcuda.so.1 was loaded instead of the driver.

Symptom:
    failed call to cuInit: UNKNOWN ERROR (34)
    CUDA_ERROR_STUB_LIBRARY
    CUDA driver is a stub library
    libcuda reported version is: INVALID_ARGUMENT: expected %d.%d, %d.%d.%d, or %d.%d.%d.%d form for driver version; got "1"
Cause:
    A toolkit ships lib64/stubs/libcuda.so so that programs can be linked without a driver. It does not work at run time. If its
    folder is in LD_LIBRARY_PATH or /etc/ld.so.conf.d, or a link libcuda.so.1 points to it, the loader finds it before the driver.
Verify:
    ldconfig -p | grep libcuda.so.1 shows the driver's file, and gpucheck --quick finds nothing.
Unless:
    Never at run time; for linking, pass the folder with -L instead.
Example:
    environment.variables = {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64/stubs:/usr/local/nvidia/lib64"}
    cuda = {"status": "failed", "result": 34, "result_name": "CUDA_ERROR_STUB_LIBRARY", "library": "/usr/local/cuda/lib64/stubs/libcuda.so.1"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> CUDA can't be initialized because a stub was loaded instead of the driver's library: /usr/local/cuda/lib64/stubs/libcuda.so.1, found through LD_LIBRARY_PATH.
References:
    https://docs.nvidia.com/cuda/cuda-driver-api/ (CUDA_ERROR_STUB_LIBRARY)
"""

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.compat.cuda import results_of
from gpucheck.core.model import Finding, Fix, Fixes, Scope, rule, saw
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.commands import without_folders
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_WITHOUT_STUBS = 'export LD_LIBRARY_PATH="$(echo "$LD_LIBRARY_PATH" | tr : \'\\n\' | grep -v stubs | paste -sd : -)"'
_CACHE = "grep -rn stubs /etc/ld.so.conf /etc/ld.so.conf.d/"


@rule(scope=Scope.ENVIRONMENT, explains=WITHOUT_CUDA)
def check(stack: CudaStack, pci: Pci, environment: Environment, context: Context) -> Finding | None:
    """Report the stub if CUDA's error identifies it and the machine has a GPU; without one, another rule applies."""
    if stack.cuda.result not in results_of("cuda-stub-loaded") or stack.container_lacks_gpu:
        return None
    if not (pci.gpus or stack.driver.gpu_count or stack.wsl.dxg_present):
        return None
    library = stack.cuda.library or "libcuda.so.1"
    path = environment.variables.get("LD_LIBRARY_PATH", "")
    searched = without_folders(path, word="stubs", folder=library.rpartition("/")[0])
    summary = f"CUDA can't be initialized because a stub was loaded instead of the driver's library: {library}"
    evidence = saw(stack.cuda, "result_name", "library")
    if searched:
        summary += ", found through LD_LIBRARY_PATH"
        evidence += saw(environment, "variables.LD_LIBRARY_PATH")
    return Finding(summary=f"{summary}.", evidence=evidence, fix=repairs(context, searched=searched))


def repairs(context: Context, *, searched: str | None = None) -> Fixes:
    """Remove the stub's folder from the loader's search path.

    Args:
        context: what is known about the machine.
        searched: the command that removes it from LD_LIBRARY_PATH; "" if it is not there; None if unknown.
    """
    gpus = Fix(text="Start the container with --gpus all: TensorFlow's GPU images load the stub only if they have no driver")
    if searched is None and context.in_container:
        yield from context.only(gpus, container="docker|podman")
    if searched != "":
        text = "Remove the stub's folder from LD_LIBRARY_PATH (and from the file that sets it)"
        yield Fix(text=text, command=searched or _WITHOUT_STUBS)
    if not searched:
        line = Fix(
            text="Remove the line that adds the stub's folder, and update the loader's cache with sudo ldconfig", needs=("sudo",)
        )
        yield line.after("Or, if a file in /etc/ld.so.conf.d lists it:") if searched is None else line
        yield Fix.look("Find the line", _CACHE)
    if searched is None and not context.in_container:
        yield from context.only(gpus, container="docker|podman")
