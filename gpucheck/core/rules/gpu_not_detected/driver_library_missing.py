"""The NVIDIA kernel module is loaded, but one of the driver's libraries is not found.

Symptom:
    failed call to cuInit: UNKNOWN ERROR (303)
      kernel reported version is: 580.82.7
    - Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file
    - NVML Shared Library Not Found
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    slurmd: We were configured with nvml functionality, but that lib wasn't found on the system.
Cause:
    The driver consists of a kernel module and libraries, and only the module is present: the package with libcuda.so.1 (and
    libnvidia-ml.so.1) was not installed, was removed, or is outside the loader's search path. In a container,
    NVIDIA_DRIVER_CAPABILITIES may request only "utility", which includes nvidia-smi but not CUDA.
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

import re

import msgspec

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import versions
from gpucheck.core.compat.cuda import results_of
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Severity, rule, saw
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import SEARCH_WSL_LIBRARIES
from gpucheck.core.repairs.machine import by_distribution, install_driver, notebook_gpu
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_REFUSALS = tuple(map(str, results_of("driver-library-missing")))
_ABSENT = ("library-not-found", "library-unusable")
_IN_CONTAINER = {
    "docker|containerd|nspawn": Fix(
        text="Restart the container with -e NVIDIA_DRIVER_CAPABILITIES=compute,utility in addition to --gpus all"
    ),
    "podman": Fix(text="Restart the container with --device nvidia.com/gpu=all, which passes in all of the driver's libraries"),
    "enroot": Fix(text="Restart the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility in its environment"),
    "apptainer": Fix(
        text="Restart the container with --nv, which passes in the host's driver libraries: apptainer exec --nv IMAGE COMMAND"
    ),
    "lxc": Fix(text="Install the libraries of the host's driver version in the container, without its kernel module"),
    "kubernetes": Fix(
        text="On the node, configure containerd to start containers with NVIDIA's runtime",
        command="sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default && sudo systemctl restart containerd",
    ),
}
_COMMON = ("docker|containerd|nspawn", "kubernetes")  # the variants for an unknown container
_FOR_SLURM = (
    Fix(
        text="In gres.conf, list the GPUs instead of AutoDetect=nvml (Name=gpu File=/dev/nvidia[0-7]), then restart slurmd",
        command="sudo systemctl restart slurmd",
    ),
    Fix(text="Or rebuild Slurm's packages where NVIDIA's header nvml.h is installed (libnvidia-ml-dev)"),
)


class MissingLibrary(msgspec.Struct, frozen=True):
    """A library of the driver that is not found, or cannot be loaded."""

    name: str
    purpose: str
    capability: str  # the value of NVIDIA_DRIVER_CAPABILITIES that passes it into a container
    problem: str | None  # why it cannot be loaded; None: it is not found
    evidence: tuple[Evidence, ...]


@rule(scope=Scope.HOST, explains=WITHOUT_CUDA)
def check(
    stack: CudaStack, pci: Pci, kernel_module: KernelModule, outcomes: TrainingOutcomes, context: Context
) -> Finding | None:
    """Report a missing library of a loaded driver; a warning if only NVML is missing and TensorFlow lists the GPUs without it.

    A result from NVML proves that the driver is loaded, even if a sandbox hides /proc/driver/nvidia.
    """
    container = stack.container
    if stack.wsl.inside or stack.container_lacks_gpu or not (kernel_module.loaded or stack.kernel_responds):
        return None
    holders = {gpu.kernel_driver for gpu in pci.gpus}
    if holders and "nvidia" not in holders and not (stack.counts_gpus or stack.kernel_responds):
        return None  # driver-not-loaded: the module has no GPU, so libraries would not help
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
        fix=repairs(context, kernel=kernel_module.version or ""),
        severity=Severity.WARNING if missing.capability == "utility" else None,
    )


def _missing(stack: CudaStack, outcomes: TrainingOutcomes) -> MissingLibrary | None:
    driver, cuda = stack.driver, stack.cuda
    if cuda.status in _ABSENT and not stack.counts_gpus:
        problem = cuda.problem if cuda.status == "library-unusable" else None
        return MissingLibrary("libcuda.so.1", "which CUDA needs", "compute", problem, saw(cuda, "status", "problem"))
    for place, event in enumerate(outcomes.events):
        if event.kind == "cuda-error" and event.fields.get("code") in _REFUSALS:
            name, purpose = "libnvidia-ptxjitcompiler.so.1", "which compiles kernels for new GPUs"
            return MissingLibrary(name, purpose, "compute", None, outcomes.saw_event(place))
    if driver.status in _ABSENT and stack.counts_gpus:
        problem = driver.problem if driver.status == "library-unusable" else None
        evidence = saw(driver, "status", "problem")
        return MissingLibrary("libnvidia-ml.so.1", "which monitors the GPU", "utility", problem, evidence)
    return None


def _grants(container: Container, capability: str) -> bool:
    """Whether the runtime passes in that capability; unset means its default, which includes both."""
    given = container.driver_capabilities
    return given is None or bool({"all", capability} & set(given.split(",")))


def repairs(context: Context, *, kernel: str = "", text: str = "") -> Fixes:
    """Install the library that is missing, or pass it into the container.

    Args:
        context: what is known about the machine.
        kernel: version of the kernel module; empty if unknown.
        text: the line that reports it.
    """
    if "nvml functionality" in text:
        yield from _FOR_SLURM
        return
    if re.search(r"libcuda\.so(?!\.\d)", text) and not context.windows:  # a library opens it by its link-time name
        link = 'sudo ln -s libcuda.so.1 "$(dirname "$(ldconfig -p | grep -om1 "/.*/libcuda.so.1")")/libcuda.so" && sudo ldconfig'
        yield from context.only(
            Fix(text="Link libcuda.so to the driver's libcuda.so.1, and update the cache", command=link), system="linux"
        )
        folder = 'export LD_LIBRARY_PATH="/usr/lib/wsl/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"'
        yield from context.only(
            Fix(text="Add the folder with libcuda.so to the loader's search path", command=folder), system="wsl"
        )
        return
    of_driver = kernel or (context.driver.version if context.driver is not None else None) or ""
    if not context.in_container:
        yield from notebook_gpu(context)
        yield from _of_linux(context, of_driver)
        yield from context.only(SEARCH_WSL_LIBRARIES, system="wsl")
        if context.windows:
            yield from install_driver(context, "Install NVIDIA's driver again")
    if context.container is not None or not (context.windows or context.notebook):
        for kind, fix in _IN_CONTAINER.items():
            if context.kinds["container"] or kind in _COMMON:
                yield from context.only(fix, container=kind)


def _of_linux(context: Context, kernel: str) -> Fixes:
    """Install the libraries that match the kernel module's version."""
    if context.excludes(system="linux"):
        return
    branch = next(iter(versions.parse(kernel)), "$(cut -d. -f1 /sys/module/nvidia/version)")
    commands = {
        "ubuntu": f"sudo apt-get install -y libnvidia-compute-{branch} nvidia-utils-{branch}",
        "debian": "sudo apt-get install -y libcuda1 libnvidia-ml1",
        "fedora": "sudo dnf install -y xorg-x11-drv-nvidia-cuda",
        "rhel|rocky|almalinux": "sudo dnf install -y nvidia-driver-cuda",
    }
    what = f"Install the driver libraries of the same version as the kernel module {kernel}".rstrip()
    yield from by_distribution(context, what, commands)
    yield Fix(text="If the files exist, update the loader's cache", command="sudo ldconfig")
