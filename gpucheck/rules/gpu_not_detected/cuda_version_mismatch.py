"""Only CUDA libraries of another major version are installed than TensorFlow opens.

Symptom:
    Could not load dynamic library 'libcudart.so.12'; dlerror: libcudart.so.12: cannot open shared object file
    Cannot dlopen some GPU libraries.
    nvcc --version says 13.0, and TensorFlow lists no GPU
Cause:
    TensorFlow asks for its CUDA libraries by name with the major version in it: since 2.15 those of CUDA 12, before that those of
    CUDA 11. Libraries of CUDA 13 have other names and are never opened. A newer driver is fine: only the libraries must fit.
Fix:
    1. Install the right ones beside them, in Python's environment: python -m pip install "tensorflow[and-cuda]==2.20.*"
    2. The other toolkit may stay where it is
Verify:
    python -c 'import tensorflow as tf; print(tf.config.list_physical_devices("GPU"))' lists the GPU.
Unless:
    The other CUDA is there for another framework; TensorFlow still needs its own.
Example:
    packages.nvidia = [{"name": "nvidia-cuda-runtime", "version": "13.0.88", "folder": "/home/user/.venv/lib/python3.12/site-packages"}, {"name": "nvidia-cudnn-cu13", "version": "9.15.1.9", "folder": "/home/user/.venv/lib/python3.12/site-packages"}]
    packages.and_cuda = []
    environment.variables.LD_LIBRARY_PATH = "/usr/local/nvidia/lib64"
    libraries.library_path = ["/usr/local/nvidia/lib64"]
    libraries.other_versions = ["/usr/local/cuda-13.0/lib64/libcudart.so.13"]
    libraries.libraries = [{"soname": "libcudart.so.12", "required": true, "package": "nvidia-cuda-runtime-cu12", "opened": false, "open_error": "libcudart.so.12: cannot open shared object file: No such file or directory"}, {"soname": "libcublas.so.12", "required": true, "package": "nvidia-cublas-cu12", "opened": false, "open_error": "libcublas.so.12: cannot open shared object file: No such file or directory"}, {"soname": "libcublasLt.so.12", "required": true, "package": "nvidia-cublas-cu12", "opened": false, "open_error": "libcublasLt.so.12: cannot open shared object file: No such file or directory"}, {"soname": "libcufft.so.11", "required": true, "package": "nvidia-cufft-cu12", "opened": false, "open_error": "libcufft.so.11: cannot open shared object file: No such file or directory"}, {"soname": "libcusolver.so.11", "required": true, "package": "nvidia-cusolver-cu12", "opened": false, "open_error": "libcusolver.so.11: cannot open shared object file: No such file or directory"}, {"soname": "libcusparse.so.12", "required": true, "package": "nvidia-cusparse-cu12", "opened": false, "open_error": "libcusparse.so.12: cannot open shared object file: No such file or directory"}, {"soname": "libcudnn.so.9", "required": true, "package": "nvidia-cudnn-cu12", "opened": false, "open_error": "libcudnn.so.9: cannot open shared object file: No such file or directory"}, {"soname": "libnccl.so.2", "required": false, "package": "nvidia-nccl-cu12", "opened": false, "open_error": "libnccl.so.2: cannot open shared object file: No such file or directory"}]
    libraries.ptxas.elsewhere = []
    libraries.libdevice.elsewhere = []
    log.events = [{"kind": "gpu-libraries-missing", "line": 6, "text": "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly", "fields": {}}]
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow 2.21.0 can use no GPU: it needs the libraries of CUDA 12, and only those of CUDA 13 are installed.
References:
    https://www.tensorflow.org/install/source#gpu
"""

import re
from collections.abc import Iterator

from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Request, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._commands import cuda_install, cuda_tensorflow
from gpucheck.rules._faults import blocked_libraries
from gpucheck.rules._gpus import gpu_here
from gpucheck.rules._words import listing


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=(
        "cuda-libraries-missing",
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
    """The CUDA runtime that TensorFlow opens is nowhere, and one of another major is."""
    here = gpu_here(request, container, pci, driver, cuda)
    faults = blocked_libraries(here, libraries, tensorflow)
    if not isinstance(faults, list):
        return faults
    known = releases.release(libraries.tensorflow or "")
    runtime = [fault for fault in faults if fault.kind == "missing" and fault.soname.startswith("libcudart")]
    if known is None or not runtime:
        return None
    found = list(_majors(packages, libraries))
    others = sorted({major for major, _ in found if major != known.cuda_major})
    if not others or len(others) < len({major for major, _ in found}):
        return None  # none at all, or the right one too: cuda-libraries-missing
    return Finding(
        summary=f"TensorFlow {libraries.tensorflow} can use no GPU: it needs the libraries of CUDA {known.cuda_major}, and only"
        f" those of CUDA {listing([str(major) for major in others])} are installed.",
        evidence=(*runtime[0].evidence(libraries), *(item for _, evidence in found for item in evidence)),
        fix=tuple(dict.fromkeys((cuda_install(interpreter, packages), cuda_tensorflow(interpreter)))),
    )


def _majors(packages: Packages, libraries: Libraries) -> Iterator[tuple[int, tuple[Evidence, ...]]]:
    """Majors of every CUDA runtime seen: pip's wheels (with -cu12 in their names up to CUDA 12), toolkits, loose files."""
    for place, one in enumerate(packages.nvidia):
        if match := re.fullmatch(r"nvidia-(?:cuda-runtime|cublas)(?:-cu(\d+))?", one.name):
            major = int(match[1]) if match[1] else next(iter(versions.parse(one.version)), None)
            if major:
                yield major, saw(packages, f"nvidia[{place}].name", f"nvidia[{place}].version")
    for place, path in enumerate(libraries.other_versions):
        if match := re.search(r"\.so\.(\d+)", path):
            yield int(match[1]), saw(libraries, f"other_versions[{place}]")
    ptxas = libraries.ptxas
    if ptxas.path and ptxas.version and "/site-packages/" not in ptxas.path and (number := versions.parse(ptxas.version)):
        yield number[0], saw(libraries, "ptxas.path", "ptxas.version")
