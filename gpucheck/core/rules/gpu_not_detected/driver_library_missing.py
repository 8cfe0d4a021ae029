"""The NVIDIA kernel module is loaded, but one of the driver's libraries is not found.

Symptom:
    failed call to cuInit: UNKNOWN ERROR (303)
    Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file
    NVML Shared Library Not Found
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    slurmd: We were configured with nvml functionality, but that lib wasn't found on the system.
Cause:
    The driver consists of a kernel module and libraries, and only the module is here: the package with libcuda.so.1 (and
    libnvidia-ml.so.1) was not installed, was removed, or is outside the loader's search path. In a container:
    NVIDIA_DRIVER_CAPABILITIES requests "utility" only, which includes nvidia-smi but not CUDA.
Fix:
    1. In a container: restart it with -e NVIDIA_DRIVER_CAPABILITIES=compute,utility in addition to --gpus all
    2. If the files exist: update the loader's cache
       $ sudo ldconfig; ldconfig -p | grep -E 'libcuda|libnvidia-ml'
    3. Ubuntu, for a driver of branch 580: install the libraries of the module's version
       $ sudo apt-get install -y libnvidia-compute-580 nvidia-utils-580
    4. Fedora with RPM Fusion: install them
       $ sudo dnf install -y xorg-x11-drv-nvidia-cuda
    5. Slurm: build its packages again with NVIDIA's header nvml.h installed (libnvidia-ml-dev), or name the GPUs in gres.conf in place
       of AutoDetect=nvml: Name=gpu File=/dev/nvidia[0-7]
Verify:
    ldconfig -p | grep -E "libcuda.so.1|libnvidia-ml.so.1" prints both.
Unless:
    Only libnvidia-ml.so.1 is missing, TensorFlow lists the GPU, and you do not monitor it: training does not need NVML.
Example:
    container.driver_capabilities = "utility"
    cuda = {"status": "library-not-found", "problem": "libcuda.so.1: cannot open shared object file"}
    driver.cuda_version = null
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> The NVIDIA driver is loaded, but libcuda.so.1, which CUDA needs, is not found: NVIDIA_DRIVER_CAPABILITIES=utility leaves it out of this container.
References:
    https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
"""

import msgspec

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import versions
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Evidence, Finding, Fix, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_ABSENT = ("library-not-found", "library-unusable")
_JIT_COMPILER_NOT_FOUND = "221"


class MissingLibrary(msgspec.Struct, frozen=True):
    """A library of the driver that is not found, or cannot be loaded."""

    name: str
    purpose: str
    capability: str  # of NVIDIA_DRIVER_CAPABILITIES, which lets it into a container
    problem: str | None  # why it cannot be loaded; None: it is not found
    evidence: tuple[Evidence, ...]


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=WITHOUT_CUDA)
def check(stack: CudaStack, kernel_module: KernelModule, outcomes: TrainingOutcomes) -> Finding | None:
    """Report a missing library of a loaded driver; a warning if only NVML is missing and TensorFlow lists the GPUs without it.

    An answer of NVML proves a loaded driver: a sandbox may hide /proc/driver/nvidia.
    """
    container = stack.container
    if stack.wsl.inside or stack.given_no_gpu or not (kernel_module.loaded or stack.kernel_answers):
        return None
    holders = {gpu.kernel_driver for gpu in stack.pci.gpus}
    if holders and "nvidia" not in holders and not (stack.counts_gpus or stack.kernel_answers):
        return None  # driver-not-loaded: the module drives no GPU, so its libraries would not help
    missing = _missing(stack, outcomes)
    if missing is None:
        return None
    loaded = saw(kernel_module, "loaded") if kernel_module.loaded else saw(stack.driver, "gpu_count", "result_name")
    state = f"cannot be loaded ({missing.problem})" if missing.problem else "is not found"
    left_out = ""
    if container.inside and not missing.problem and not _grants(container, missing.capability):
        left_out = f": NVIDIA_DRIVER_CAPABILITIES={container.driver_capabilities or ''} leaves it out of this container"
    return Finding(
        summary=f"The NVIDIA driver is loaded, but {missing.name}, {missing.purpose}, {state}{left_out}.",
        evidence=(*missing.evidence, *loaded, *saw(container, "driver_capabilities")),
        fix=_fixes(stack, kernel_module),
        severity=Severity.WARNING if missing.capability == "utility" else None,
    )


def _missing(stack: CudaStack, outcomes: TrainingOutcomes) -> MissingLibrary | None:
    driver, cuda = stack.driver, stack.cuda
    if cuda.status in _ABSENT and not stack.counts_gpus:
        problem = cuda.problem if cuda.status == "library-unusable" else None
        return MissingLibrary("libcuda.so.1", "which CUDA needs", "compute", problem, saw(cuda, "status", "problem"))
    for place, event in enumerate(outcomes.events):
        if event.kind == Kind.CUDA_ERROR and event.fields.get("code") == _JIT_COMPILER_NOT_FOUND:
            name, purpose = "libnvidia-ptxjitcompiler.so.1", "which compiles kernels for new GPUs"
            return MissingLibrary(name, purpose, "compute", None, outcomes.saw_event(place))
    if driver.status in _ABSENT and stack.counts_gpus:
        problem = driver.problem if driver.status == "library-unusable" else None
        evidence = saw(driver, "status", "problem")
        return MissingLibrary("libnvidia-ml.so.1", "which monitors the GPU", "utility", problem, evidence)
    return None


def _grants(container: Container, capability: str) -> bool:
    """Unset means the runtime's own default, which has both."""
    given = container.driver_capabilities
    return given is None or bool({"all", capability} & set(given.split(",")))


def _fixes(stack: CudaStack, kernel_module: KernelModule) -> tuple[Fix, ...]:
    if stack.container.inside:
        return (
            Fix(text="Restart the container with -e NVIDIA_DRIVER_CAPABILITIES=compute,utility in addition to --gpus all"),
            Fix(
                text="Check whether the machine has the library (run it outside the container)",
                command="ldconfig -p | grep libcuda",
                kind="look",
            ),
        )
    kernel = kernel_module.version or ""
    branch = versions.parse(kernel)[:1]
    install = {
        "ubuntu": f"sudo apt-get install -y libnvidia-compute-{branch[0]} nvidia-utils-{branch[0]}" if branch else None,
        "debian": "sudo apt-get install -y libcuda1 libnvidia-ml1",
        "fedora": "sudo dnf install -y xorg-x11-drv-nvidia-cuda",
        **dict.fromkeys(("rhel", "rocky", "almalinux"), "sudo dnf install -y nvidia-driver-cuda"),
    }.get(stack.system.os_id or "")
    version = f"Install the libraries of the same driver version as the kernel module {kernel}".rstrip()
    return (
        Fix(text=version, command=install),
        Fix(text="If the files exist, update the loader's cache", command="sudo ldconfig"),
    )
