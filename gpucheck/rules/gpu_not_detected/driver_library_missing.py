"""The NVIDIA kernel module is loaded, and a library of the driver that belongs to it is not found.

Symptom:
    failed call to cuInit: UNKNOWN ERROR (303)
    Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file
    NVML Shared Library Not Found
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    slurmd: We were configured with nvml functionality, but that lib wasn't found on the system.
Cause:
    The driver has two halves, and only the kernel's half is here: the package with libcuda.so.1 (and libnvidia-ml.so.1) was
    not installed, was removed, or lies where the loader does not look. In a container: NVIDIA_DRIVER_CAPABILITIES asks for
    "utility" only, which brings nvidia-smi and leaves CUDA out.
Fix:
    1. In a container: start it again with -e NVIDIA_DRIVER_CAPABILITIES=compute,utility beside --gpus all
    2. If the files are there: make the loader's list anew
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
    Only libnvidia-ml.so.1 is missing and nobody watches the GPU: training does not need it.
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

from gpucheck.compat import versions
from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.device_nodes import DeviceNodes
from gpucheck.probes.driver import Driver
from gpucheck.probes.kernel_module import KernelModule
from gpucheck.probes.log import Log
from gpucheck.probes.pci import Pci
from gpucheck.probes.system import System
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._driver import WITHOUT_CUDA, given_no_gpu

_ABSENT = ("library-not-found", "library-unusable")
_JIT_COMPILER_NOT_FOUND = "221"


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=WITHOUT_CUDA)
def check(
    system: System,
    wsl: Wsl,
    container: Container,
    pci: Pci,
    kernel_module: KernelModule,
    device_nodes: DeviceNodes,
    driver: Driver,
    cuda: Cuda,
    log: Log | None,
) -> Finding | None:
    """Kernel module yes, library no. A missing NVML alone leaves training possible."""
    if wsl.inside or not kernel_module.loaded or given_no_gpu(container, wsl, device_nodes, driver):
        return None
    if pci.gpus and not any(gpu.kernel_driver == "nvidia" for gpu in pci.gpus) and not cuda.device_count:
        return None  # driver-not-loaded: the module drives no GPU, so its libraries would not help
    severity = None
    if cuda.status in _ABSENT and not cuda.device_count:
        library, purpose = "libcuda.so.1", "which CUDA needs"
        problem, evidence = cuda.problem, saw(cuda, "status", "problem")
        if cuda.status == "library-not-found":
            problem = None
    elif compiler := _without_compiler(log):
        library, purpose = "libnvidia-ptxjitcompiler.so.1", "which compiles kernels for new GPUs"
        problem, evidence = None, compiler
    elif driver.status in _ABSENT and cuda.device_count:
        library, purpose, severity = "libnvidia-ml.so.1", "which watches the GPU", Severity.WARNING
        problem, evidence = driver.problem, saw(driver, "status", "problem")
        if driver.status == "library-not-found":
            problem = None
    else:
        return None
    state = f"cannot be loaded ({problem})" if problem else "is not found"
    summary = f"The NVIDIA driver is loaded, but {library}, {purpose}, {state}"
    wanted = "utility" if library == "libnvidia-ml.so.1" else "compute"
    left_out = container.inside and not problem and not _grants(container, wanted)
    if left_out:
        summary += f": NVIDIA_DRIVER_CAPABILITIES={container.driver_capabilities or ''} leaves it out of this container"
    return Finding(
        summary=f"{summary}.",
        evidence=(*evidence, *saw(kernel_module, "loaded"), *saw(container, "driver_capabilities")),
        fix=_fixes(system, container, kernel_module),
        severity=severity,
    )


def _without_compiler(log: Log | None) -> tuple[Evidence, ...]:
    events = log.events if log is not None else ()
    for place, event in enumerate(events):
        if event.kind == "cuda-error" and event.fields.get("code") == _JIT_COMPILER_NOT_FOUND:
            return saw(log, f"events[{place}].text") if log is not None else ()
    return ()


def _grants(container: Container, capability: str) -> bool:
    """Unset means the runtime's own default, which has both."""
    given = container.driver_capabilities
    return given is None or bool({"all", capability} & set(given.split(",")))


def _fixes(system: System, container: Container, kernel_module: KernelModule) -> tuple[Fix, ...]:
    if container.inside:
        return (
            Fix(text="Start the container again, with -e NVIDIA_DRIVER_CAPABILITIES=compute,utility beside --gpus all"),
            Fix(text="See whether the machine itself has the library (run it there)", command="ldconfig -p | grep libcuda"),
        )
    branch = versions.parse(kernel_module.version or "")[:1]
    install = {
        "ubuntu": f"sudo apt-get install -y libnvidia-compute-{branch[0]} nvidia-utils-{branch[0]}" if branch else None,
        "debian": "sudo apt-get install -y libcuda1 libnvidia-ml1",
        "fedora": "sudo dnf install -y xorg-x11-drv-nvidia-cuda",
        **dict.fromkeys(("rhel", "rocky", "almalinux"), "sudo dnf install -y nvidia-driver-cuda"),
    }.get(system.os_id or "")
    version = f" {kernel_module.version}" if kernel_module.version else ""
    return (
        Fix(text=f"Install the libraries of the same driver version as the kernel module{version}", command=install),
        Fix(text="If the files are there, make the loader's list anew", command="sudo ldconfig"),
    )
