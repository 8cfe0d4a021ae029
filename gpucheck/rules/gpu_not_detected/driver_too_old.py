"""The NVIDIA driver is older than the CUDA that the installed TensorFlow was built with.

Symptom:
    CUDA driver version is insufficient for CUDA runtime version
    cudaGetDeviceCount() returned 35
    the provided PTX was compiled with an unsupported toolchain.
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    Driver version is lower than what is required to execute PTX
Cause:
    A driver runs programs of its own CUDA major version and of older ones, never of a newer major. TensorFlow 2.15 and later
    were built with CUDA 12, which asks for driver 525.60.13 (528.33 on Windows, for WSL2); 2.10 to 2.14 ask for 450.80.02.
Fix:
    1. See which driver runs, and which CUDA it knows
       $ nvidia-smi
    2. Ubuntu: install a newer driver, which goes on running everything older, then restart the machine
       $ sudo ubuntu-drivers install
    3. Fedora (with RPM Fusion): install a newer driver, then restart the machine
       $ sudo dnf install -y akmod-nvidia xorg-x11-drv-nvidia-cuda
    4. Or install a TensorFlow, or take an image, that was built with a CUDA that the driver knows
Verify:
    nvidia-smi prints a CUDA version at least as new as TensorFlow's major: 12.0 for TensorFlow 2.21.
Unless:
    The forward-compatibility package (cuda-compat) is in use on a data-center GPU: CUDA then reports the newer version, and
    this is not said.
Example:
    kernel_module.version = "470.256.02"
    driver.version = "470.256.02"
    driver.cuda_version = "11.4"
    cuda.driver_version = "11.4"
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> The NVIDIA driver 470.256.02 knows CUDA up to 11.4, and TensorFlow 2.21.0 needs 12.0 (driver 525.60.13 or newer).
References:
    https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/
    https://docs.nvidia.com/deploy/cuda-compatibility/
    https://www.tensorflow.org/install/pip
"""

from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.compat.cuda import cu_result, cuda_of_driver
from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.kernel_module import KernelModule
from gpucheck.probes.log import Log
from gpucheck.probes.packages import Packages
from gpucheck.probes.system import System
from gpucheck.probes.training import Training
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._commands import pip
from gpucheck.rules._driver import WITHOUT_CUDA, install_driver
from gpucheck.rules._log import events
from gpucheck.rules._training import trained_on_gpu

_TOO_OLD = ("35", "36")  # insufficient driver; a call that needs a newer one


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=(*WITHOUT_CUDA, "container-without-gpu"), tensorflow=True)
def check(
    system: System,
    wsl: Wsl,
    container: Container,
    interpreter: Interpreter | None,
    packages: Packages,
    kernel_module: KernelModule | None,
    driver: Driver,
    cuda: Cuda,
    log: Log | None,
    training: Training | None,
) -> Finding | Skip | None:
    """Compare the newest CUDA that the driver speaks with the major version that TensorFlow's release was built with."""
    installed = packages.tensorflow
    release = releases.release(installed.version) if installed is not None else None
    if installed is None or "cpu" in installed.name or trained_on_gpu(training):
        return None
    if cuda.status == "failed" and str(cuda.result) in _TOO_OLD:
        return _refused(system, wsl, container, driver, cuda)
    if not (driver.gpu_count or cuda.device_count):
        return None  # an old driver still counts its GPUs; without any, something else is wrong first
    known = _newest_cuda(driver, cuda, kernel_module)
    if known is None:
        return None  # no driver answers: others say why
    if release is None:
        return Skip(f"it is not known which CUDA TensorFlow {installed.version} needs")
    newest, evidence = known
    needed = f"{release.cuda_major}.0"
    floor = release.driver_min_windows if wsl.inside else release.driver_min_linux
    refused = events(log, "ptx-unsupported", "driver-too-old")
    if versions.at_least(newest, needed):
        if not refused or versions.at_least(newest, release.cuda):
            return None
        needed, floor = release.cuda, ""  # its kernels have to be compiled by the driver, which takes the full version
    version = driver.version or (kernel_module.version if kernel_module is not None else None)
    name = f"driver {version}" if version else "driver"
    floor = f" ({'Windows ' if wsl.inside else ''}driver {floor} or newer)" if floor else " to compile its kernels"
    return Finding(
        summary=f"The NVIDIA {name} knows CUDA up to {newest}, and TensorFlow {installed.version} needs {needed}{floor}.",
        evidence=(*evidence, *saw(driver, "version"), *saw(packages, "tensorflow.version"), *refused),
        fix=_fixes(system, wsl, container, interpreter, newest),
    )


def _refused(system: System, wsl: Wsl, container: Container, driver: Driver, cuda: Cuda) -> Finding:
    """The driver's own word: its library asks for more than the driver below it can do."""
    known = cu_result(cuda.result or 0)
    name = cuda.result_name or (known.name if known is not None else "error")
    version = f" {driver.version}" if driver.version else ""
    return Finding(
        summary=f"The NVIDIA driver{version} is too old for the CUDA library above it: cuInit answers {name} ({cuda.result}).",
        evidence=(*saw(cuda, "result", "result_name", "library"), *saw(driver, "version")),
        fix=(
            Fix(text="See which driver runs, and which CUDA it knows", command="nvidia-smi"),
            _newer_driver(system, wsl, container),
        ),
    )


def _newest_cuda(driver: Driver, cuda: Cuda, kernel_module: KernelModule | None) -> tuple[str, tuple[Evidence, ...]] | None:
    """What libcuda says counts first: a forward-compatibility libcuda knows more than the driver below it."""
    if cuda.driver_version:
        return cuda.driver_version, saw(cuda, "driver_version")
    if driver.cuda_version:
        return driver.cuda_version, saw(driver, "cuda_version")
    if driver.version and (by_branch := cuda_of_driver(driver.version)):
        return by_branch, saw(driver, "version")
    if kernel_module is not None and kernel_module.version and (by_branch := cuda_of_driver(kernel_module.version)):
        return by_branch, saw(kernel_module, "version")
    return None


def _fixes(system: System, wsl: Wsl, container: Container, interpreter: Interpreter | None, newest: str) -> tuple[Fix, ...]:
    first = _newer_driver(system, wsl, container)
    if interpreter is None:
        return (first,)
    python = versions.parse(interpreter.version)[:2]
    fitting = [
        release
        for release in releases.RELEASES.values()
        if release.and_cuda
        and versions.at_least(newest, f"{release.cuda_major}.0")
        and versions.parse(release.python_min) <= python <= versions.parse(release.python_max)
    ]
    if not fitting:
        return (first,)
    latest = fitting[-1]
    return (
        first,
        Fix(
            text=f"Or install the newest TensorFlow that this driver runs ({latest.minor}, built with CUDA {latest.cuda})",
            command=pip(interpreter, f"tensorflow[and-cuda]=={latest.latest_patch}"),
        ),
    )


def _newer_driver(system: System, wsl: Wsl, container: Container) -> Fix:
    if wsl.inside:
        return Fix(text="Install NVIDIA's current Windows driver, on Windows and not inside WSL, then run: wsl --shutdown")
    return install_driver(system, container, "Install a newer NVIDIA driver")
