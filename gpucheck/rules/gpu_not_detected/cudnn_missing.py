"""cuDNN, or a part of it, is not installed; the other CUDA libraries are.

Symptom:
    Could not load dynamic library 'libcudnn.so.9'; dlerror: libcudnn.so.9: cannot open shared object file
    Cannot dlopen some GPU libraries.
    Could not locate cudnn_engines_precompiled64_9.dll / libcudnn_engines_precompiled.so.9
    Autotuner could not find any supported configs for HLO: %cudnn-conv-bw-filter
    DNN library is not found.
Cause:
    NVIDIA ships cuDNN apart from the CUDA toolkit, so a machine can have all of CUDA and no cuDNN; TensorFlow then lists no GPU.
    cuDNN 9 is in parts that it opens from its own folder at first use: a copy with a part missing fails only in training.
Fix:
    1. Install it with pip: python -m pip install "nvidia-cudnn-cu12>=9.3,<10"
    2. If pip says that it is there already: python -m pip install --force-reinstall --no-deps nvidia-cudnn-cu12
Verify:
    gpucheck trains a convolutional network on the GPU.
Unless:
    There is no other way: TensorFlow does not list a GPU without cuDNN.
Example:
    packages.and_cuda[5].installed = null
    packages.and_cuda[5].satisfied = null
    packages.nvidia = [{"name": "nvidia-cublas-cu12", "version": "12.5.3.2", "folder": "/home/user/.venv/lib/python3.12/site-packages"}]
    libraries.libraries[6] = {"soname": "libcudnn.so.9", "required": true, "package": "nvidia-cudnn-cu12", "opened": false, "open_error": "libcudnn.so.9: cannot open shared object file: No such file or directory"}
    log.events = [{"kind": "library-missing", "line": 5, "text": "Could not load dynamic library 'libcudnn.so.9'", "fields": {"soname": "libcudnn.so.9", "error": "libcudnn.so.9: cannot open shared object file: No such file or directory"}}, {"kind": "gpu-libraries-missing", "line": 6, "text": "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly", "fields": {}}]
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow 2.21.0 can use no GPU: cuDNN (libcudnn.so.9) is not installed.
References:
    https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html
"""

from gpucheck.compat import tensorflow as releases
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.training import Training
from gpucheck.rules._commands import cuda_install, pip, reinstall
from gpucheck.rules._faults import blocked_libraries
from gpucheck.rules._gpus import gpu_here
from gpucheck.rules._training import trained_on_gpu
from gpucheck.rules._words import listing


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=(
        "gpus-not-listed",
        "cudnn-init-failed",
        "training-failed",
        "training-crashed",
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
    training: Training | None,
) -> Finding | Skip | None:
    """Nothing is missing but cuDNN, or parts beside the copy that wins."""
    here = gpu_here(request, container, pci, driver, cuda)
    if here and libraries.cudnn_parts_missing:
        return _partial(interpreter, packages, libraries, training)
    faults = blocked_libraries(here, libraries, tensorflow)
    if not isinstance(faults, list):
        return faults
    missing = [fault for fault in faults if fault.kind == "missing"]
    if not missing or not all(fault.soname.startswith("libcudnn") for fault in missing):
        return None
    return Finding(
        summary=f"TensorFlow {libraries.tensorflow} can use no GPU: cuDNN ({missing[0].soname}) is not installed.",
        evidence=tuple(item for fault in missing for item in fault.evidence(libraries)),
        fix=_fixes(interpreter, packages, libraries, missing[0].library.package),
    )


def _partial(interpreter: Interpreter, packages: Packages, libraries: Libraries, training: Training | None) -> Finding:
    parts = listing(list(libraries.cudnn_parts_missing))
    package = next((one.package for one in libraries.libraries if one.soname.startswith("libcudnn")), None)
    return Finding(
        summary=f"cuDNN is incomplete: {parts} {'is' if len(libraries.cudnn_parts_missing) == 1 else 'are'} missing beside"
        " libcudnn, so layers that need it fail on the GPU.",
        evidence=saw(libraries, "cudnn_parts_missing"),
        fix=_fixes(interpreter, packages, libraries, package),
        severity=Severity.WARNING if trained_on_gpu(training) else None,
    )


def _fixes(interpreter: Interpreter, packages: Packages, libraries: Libraries, package: str | None) -> tuple[Fix, ...]:
    again = reinstall(interpreter, packages, (package,))
    if again is not None:
        return (again,)
    known = releases.release(libraries.tensorflow or "")
    if package is None or known is None:
        return (cuda_install(interpreter, packages),)
    wanted = f"{package}>={known.cudnn},<{int(known.cudnn.partition('.')[0]) + 1}"
    return (
        Fix(
            text=f"Install the cuDNN that TensorFlow {libraries.tensorflow} is built for",
            command=pip(interpreter, wanted),
        ),
    )
