"""The installed CUDA libraries have a different major version than TensorFlow needs.

Symptom:
    Cuda compilation tools, release 13.0, V13.0.48
      Could not load dynamic library 'libcudart.so.12'; dlerror: libcudart.so.12: cannot open shared object file: No such file or directory
    Cannot dlopen some GPU libraries.
    - nvcc --version prints 13.0, and TensorFlow lists no GPU
Cause:
    TensorFlow loads its CUDA libraries by names that contain the major version: since 2.15 those of CUDA 12, before that those of
    CUDA 11. Libraries of CUDA 13 have other names and are never loaded. A newer driver is fine: only the libraries must match.
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
    -> TensorFlow 2.21.0 cannot use the GPU: it needs the libraries of CUDA 12, but only those of CUDA 13 are installed.
References:
    https://www.tensorflow.org/install/source#gpu
"""

import re
from collections.abc import Iterator

from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import WITHOUT_LIBRARY_PATH
from gpucheck.core.rules.gpu_not_detected import WITHOUT_LIBRARIES
from gpucheck.core.rules.gpu_not_detected._cuda_builds import cuda_build, installed_build, jax_build, toolkit, torch_build

# CUDA versions that PyTorch's own index has builds for (pytorch.org/get-started/previous-versions).
_OF_TORCH = ("11.8", "12.1", "12.4", "12.6", "12.8", "12.9", "13.0")


@rule(scope=Scope.ENVIRONMENT, explains=("cuda-libraries-missing", *WITHOUT_LIBRARIES))
def check(faults: LibraryFaults, packages: Packages, context: Context) -> Finding | Skip | None:
    """Report that the CUDA runtime that TensorFlow needs is missing, and one of another major version is installed."""
    missing = faults.blocking("missing")
    libraries = faults.libraries
    needed = releases.release(libraries.tensorflow or "")
    runtime = [fault for fault in missing if fault.soname.startswith("libcudart")]
    if needed is None or not runtime:
        return faults.skip
    installed = list(_majors(faults, packages))
    majors = {major for major, _ in installed}
    if not majors or needed.cuda_major in majors:
        return None  # none at all, or also the right one: cuda-libraries-missing
    return Finding(
        summary=f"TensorFlow {libraries.tensorflow} cannot use the GPU: it needs the libraries of CUDA {needed.cuda_major}, but"
        f" only those of CUDA {listing([str(major) for major in sorted(majors)])} are installed.",
        evidence=(*runtime[0].evidence, *(item for _, evidence in installed for item in evidence)),
        fix=repairs(context),
    )


def repairs(context: Context, *, sonames: str = "", library: str = "", built: str = "", found: str = "") -> Fixes:
    """Install the libraries that the program was built for; the other CUDA can stay.

    Args:
        context: what is known about the machine.
        sonames: the libraries that the program requested.
        library: the library whose version differs from JAX's build.
        built: the CUDA version that the program was built for: "12.1" for PyTorch.
        found: the installed version.
    """
    if built and found and not sonames:
        yield from _of_jax(context) if library or context.framework == "jax" else _of_extension(context, built, found)
        return
    yield from installed_build(context) if context.interpreter is not None else cuda_build(context, toolkit(sonames))


def _of_jax(context: Context) -> Fixes:
    yield jax_build(context)
    yield from context.only(WITHOUT_LIBRARY_PATH, system="linux|wsl")


def _of_extension(context: Context, built: str, found: str) -> Fixes:
    """Install matching builds for an extension of PyTorch that is compiled with another toolkit than PyTorch."""
    if found in _OF_TORCH:
        torch = torch_build(context, found.replace(".", ""))
        yield Fix(text=f"Install the PyTorch build for CUDA {found}, the version of the installed toolkit", command=torch.command)
    text = f"Or compile with the CUDA {built} toolkit, which this PyTorch was built for"
    yield Fix(text=text, command=f"conda install -y -c nvidia cuda-toolkit={built}", needs=("network",))
    if not context.windows:
        yield Fix(text="If that toolkit is installed already: select it", command=f"export CUDA_HOME=/usr/local/cuda-{built}")


def _majors(faults: LibraryFaults, packages: Packages) -> Iterator[tuple[int, tuple[Evidence, ...]]]:
    """Yield the major version of every CUDA runtime: pip's wheels (named -cu12 up to CUDA 12), toolkits, single files."""
    libraries = faults.libraries
    for place, package in enumerate(packages.nvidia):
        if match := re.fullmatch(r"nvidia-(?:cuda-runtime|cublas)(?:-cu(\d+))?", package.name):
            major = int(match[1]) if match[1] else next(iter(versions.parse(package.version)), None)
            if major:
                yield major, saw(packages, f"nvidia[{place}].name", f"nvidia[{place}].version")
    for place, path in enumerate(libraries.other_versions):
        if match := re.search(r"\.so\.(\d+)", path):
            yield int(match[1]), saw(libraries, f"other_versions[{place}]")
    ptxas = libraries.ptxas
    if ptxas.path and ptxas.version and "/site-packages/" not in ptxas.path and (number := versions.parse(ptxas.version)):
        yield number[0], saw(libraries, "ptxas.path", "ptxas.version")
