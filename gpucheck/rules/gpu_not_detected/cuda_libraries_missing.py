"""CUDA libraries that TensorFlow opens are nowhere on this machine.

Symptom:
    Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly
    Skipping registering GPU devices...
    Could not load dynamic library 'libcudart.so.12'; dlerror: libcudart.so.12: cannot open shared object file
    Could not find cuda drivers on your machine, GPU will not be used.
Cause:
    TensorFlow opens seven CUDA libraries before it lists the first GPU; without any one of them it lists none. The plain
    tensorflow package brings none: they come with its and-cuda extra. The line about missing CUDA drivers is misleading: it
    only says that libcudart was not found.
Fix:
    1. Install them with TensorFlow: python -m pip install "tensorflow[and-cuda]==2.20.*"
    2. If pip says that they are there already, their files were lost: pip install --force-reinstall --no-deps and the package
    3. On a cluster, load the module of the CUDA major that TensorFlow was built for (12 since TensorFlow 2.15)
Verify:
    python -c 'import tensorflow as tf; print(tf.config.list_physical_devices("GPU"))' lists the GPU.
Unless:
    TensorFlow is meant to train on the CPU although a GPU is here: hide it with CUDA_VISIBLE_DEVICES=-1 and say --allow-cpu.
Example:
    packages.nvidia = []
    packages.and_cuda = []
    environment.variables.LD_LIBRARY_PATH = "/usr/local/nvidia/lib64"
    libraries.library_path = ["/usr/local/nvidia/lib64"]
    libraries.libraries = [{"soname": "libcudart.so.12", "required": true, "package": "nvidia-cuda-runtime-cu12", "opened": false, "open_error": "libcudart.so.12: cannot open shared object file: No such file or directory"}, {"soname": "libcublas.so.12", "required": true, "package": "nvidia-cublas-cu12", "opened": false, "open_error": "libcublas.so.12: cannot open shared object file: No such file or directory"}, {"soname": "libcublasLt.so.12", "required": true, "package": "nvidia-cublas-cu12", "opened": false, "open_error": "libcublasLt.so.12: cannot open shared object file: No such file or directory"}, {"soname": "libcufft.so.11", "required": true, "package": "nvidia-cufft-cu12", "opened": false, "open_error": "libcufft.so.11: cannot open shared object file: No such file or directory"}, {"soname": "libcusolver.so.11", "required": true, "package": "nvidia-cusolver-cu12", "opened": false, "open_error": "libcusolver.so.11: cannot open shared object file: No such file or directory"}, {"soname": "libcusparse.so.12", "required": true, "package": "nvidia-cusparse-cu12", "opened": false, "open_error": "libcusparse.so.12: cannot open shared object file: No such file or directory"}, {"soname": "libcudnn.so.9", "required": true, "package": "nvidia-cudnn-cu12", "opened": false, "open_error": "libcudnn.so.9: cannot open shared object file: No such file or directory"}, {"soname": "libnccl.so.2", "required": false, "package": "nvidia-nccl-cu12", "opened": false, "open_error": "libnccl.so.2: cannot open shared object file: No such file or directory"}]
    libraries.ptxas = {}
    libraries.libdevice = {}
    log.events = [{"kind": "gpu-libraries-missing", "line": 6, "text": "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly", "fields": {}}]
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow 2.21.0 can use no GPU: libcudart.so.12, libcublas.so.12 and 5 more CUDA libraries are not installed.
References:
    https://www.tensorflow.org/install/pip
    https://github.com/tensorflow/tensorflow/issues/63362
"""

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Request, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._commands import cuda_install, cuda_tensorflow, reinstall
from gpucheck.rules._faults import blocked_libraries
from gpucheck.rules._gpus import gpu_here
from gpucheck.rules._words import listing


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=(
        "gpus-not-listed",
        "ptxas-missing",
        "libdevice-missing",
        "tensorflow-import-failed",
        "cpu-fallback",
    ),
)
def check(
    request: Request,
    container: Container,
    pci: Pci,
    driver: Driver,
    cuda: Cuda,
    interpreter: Interpreter,
    packages: Packages,
    libraries: Libraries,
    tensorflow: TensorFlow | None,
) -> Finding | Skip | None:
    """No copy anywhere, and not of cuDNN alone, which cudnn-missing names."""
    here = gpu_here(request, container, pci, driver, cuda)
    faults = blocked_libraries(here, libraries, tensorflow)
    if not isinstance(faults, list):
        return faults
    missing = [fault for fault in faults if fault.kind == "missing"]
    if all(fault.soname.startswith("libcudnn") for fault in missing):
        return None
    names = [fault.soname for fault in missing]
    again = reinstall(interpreter, packages, (fault.library.package for fault in missing if not fault.library.path))
    install = cuda_install(interpreter, packages)
    newest = cuda_tensorflow(interpreter)
    plural = "y is" if len(names) == 1 else "ies are"
    return Finding(
        summary=f"TensorFlow {libraries.tensorflow} can use no GPU: {listing(names)} CUDA librar{plural} not installed."
        if len(names) > 3
        else f"TensorFlow {libraries.tensorflow} can use no GPU: its CUDA librar{plural} not installed: {listing(names)}.",
        evidence=(
            *(item for fault in missing for item in fault.evidence(libraries)),
            *saw(libraries, "runpath", "library_path"),
        ),
        fix=tuple(dict.fromkeys(fix for fix in (again, install, newest) if fix)),
    )
