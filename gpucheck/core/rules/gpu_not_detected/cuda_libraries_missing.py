"""CUDA libraries that TensorFlow needs are not installed on this machine.

Symptom:
    Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly
    Skipping registering GPU devices...
    Could not load dynamic library 'libcudart.so.12'; dlerror: libcudart.so.12: cannot open shared object file
    - Could not find cuda drivers on your machine, GPU will not be used.
Cause:
    TensorFlow loads seven CUDA libraries before it lists the first GPU; if one is missing, it lists no GPU. The plain tensorflow
    package does not include them: install its and-cuda extra. The message about missing CUDA drivers is misleading: it only
    means that libcudart was not found.
Verify:
    python -c 'import tensorflow as tf; print(tf.config.list_physical_devices("GPU"))' lists the GPU.
Unless:
    TensorFlow should train on the CPU although there is a GPU: hide it with CUDA_VISIBLE_DEVICES=-1 and use --allow-cpu.
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
    -> TensorFlow 2.21.0 cannot use the GPU: libcudart.so.12, libcublas.so.12 and 5 more CUDA libraries are not installed.
References:
    https://www.tensorflow.org/install/pip
    https://github.com/tensorflow/tensorflow/issues/63362
"""

from collections.abc import Iterable

from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.compat import vendors
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected import WITHOUT_LIBRARIES
from gpucheck.core.rules.gpu_not_detected._cuda_builds import cuda_build, installed_build, toolkit

_FOR_JETSON = (
    Fix(
        text="Jetson: start the container with NVIDIA's runtime, which passes in CUDA from the host: docker run --runtime nvidia IMAGE"
        " (an l4t image for its JetPack)"
    ),
    Fix(text=f"Outside of containers, install NVIDIA's TensorFlow for the board's JetPack: {vendors.JETSON_GUIDE}"),
)


@rule(scope=Scope.ENVIRONMENT, explains=WITHOUT_LIBRARIES)
def check(faults: LibraryFaults, context: Context) -> Finding | Skip | None:
    """Report libraries without a copy anywhere; if only cuDNN is missing, cudnn-missing reports it."""
    missing = faults.blocking("missing")
    if all(fault.soname.startswith("libcudnn") for fault in missing):
        return faults.skip
    lost = list(dict.fromkeys(fault.soname for fault in missing))
    names = listing(lost)
    verb = "library is" if len(lost) == 1 else "libraries are"
    state = f"{names} CUDA {verb} not installed" if len(lost) > 3 else f"its CUDA {verb} not installed: {names}"
    packages = {library.soname: library.package for library in faults.libraries.libraries}
    return Finding(
        summary=f"TensorFlow {faults.libraries.tensorflow} cannot use the GPU: {state}.",
        evidence=(
            *(item for fault in missing for item in fault.evidence),
            *saw(faults.libraries, "runpath", "library_path"),
        ),
        fix=repairs(context, lost=[packages.get(soname) for soname in lost]),
    )


def repairs(
    context: Context, *, sonames: str = "", package: str = "", version: str = "", lost: Iterable[str | None] = (), text: str = ""
) -> Fixes:
    """Install the libraries of the CUDA version that the program requested.

    Args:
        context: what is known about the machine.
        sonames: the libraries that are missing: "libcudart.so.12 libcublas.so.12".
        package: the package that conda's solver did not find.
        version: the version of that package.
        lost: pip's packages that should contain the libraries.
        text: the line of a log.
    """
    if "/targets/aarch64-linux/" in text:  # servers have sbsa-linux
        yield from _FOR_JETSON
        return
    if package:
        command = f"conda install -y -c conda-forge -c nvidia {package}{f'={version}' if version else ''}"
        yield Fix(text=f"Search for {package} in the channels that have it", command=command, needs=("network",))
        if context.framework:
            yield from cuda_build(context)
        return
    if again := context.reinstall(lost):
        yield again
    if context.interpreter is not None:
        yield from installed_build(context)
        return
    if context.framework == "jax" and not sonames:  # JAX names its libraries without a file name
        yield Fix(
            text="Remove LD_LIBRARY_PATH, so that JAX loads its own CUDA libraries and no other copies",
            command="unset LD_LIBRARY_PATH",
        )
    yield from cuda_build(context, toolkit(sonames))
    if context.scheduler:
        yield Fix(text="On a cluster, load the module for that CUDA version", command="module load cuda")
    look = "ldconfig -p | grep -E 'libcu(dart|blas|fft|solver|sparse|dnn)'"
    show = Fix.look("Check whether the loader finds them; if they are in another folder, add it to LD_LIBRARY_PATH", look)
    yield from context.only(show, system="linux|wsl")
