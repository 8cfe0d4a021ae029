"""The cuDNN that TensorFlow loads does not fit: another major, older than it was built with, or without code for this GPU.

Symptom:
    Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0. CuDNN library needs to have matching major version
    and equal or higher minor version.
    No DNN in stream executor. [Op:Conv2D]
    DNN library is not found.
    CUDNN_STATUS_ARCH_MISMATCH, CUDNN_STATUS_EXECUTION_FAILED_CUDART (a GPU before Turing with cuDNN 9.11 or newer)
Cause:
    TensorFlow runs with the cuDNN major it was built with and the same or a newer minor. All packages of one environment share one
    cuDNN, so installing PyTorch can replace it by an older one. And from 9.11 on cuDNN has no code for GPUs before Turing.
Fix:
    1. Install one that fits: python -m pip install "nvidia-cudnn-cu12>=9.3,<10"
    2. For Pascal and Volta GPUs: python -m pip install "nvidia-cudnn-cu12>=9.3,<9.11"
Verify:
    gpucheck trains a convolutional network on the GPU.
Unless:
    Nothing that you run uses cuDNN (no convolution, no recurrent layer).
Example:
    packages.and_cuda[5].installed = "9.1.0.70"
    packages.and_cuda[5].satisfied = false
    packages.nvidia[5].version = "9.1.0.70"
    libraries.libraries[6].version = "9.1.0.70"
    training.runs = []
    log.events = [{"kind": "cudnn-version-mismatch", "line": 9, "text": "Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0.", "fields": {"loaded": "9.1.0", "compiled": "9.3.0"}}]
    -> cuDNN 9.1.0.70 is older than the 9.3 that TensorFlow 2.21.0 was built with, so layers that need it fail on the GPU.
References:
    https://www.tensorflow.org/install/source#gpu
    https://docs.nvidia.com/deeplearning/cudnn/backend/latest/reference/support-matrix.html
"""

from gpucheck.compat import cuda as tables
from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.log import Log
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.training import Training
from gpucheck.rules._commands import pip
from gpucheck.rules._gpus import absent, gpu_here, visible_gpus
from gpucheck.rules._log import events
from gpucheck.rules._training import trained_on_gpu


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=("cudnn-missing", "cudnn-init-failed", "gpus-not-listed", "training-failed", "training-crashed"),
)
def check(
    request: Request,
    container: Container,
    pci: Pci,
    driver: Driver,
    cuda: Cuda,
    gpus: Gpus,
    interpreter: Interpreter,
    packages: Packages,
    libraries: Libraries,
    training: Training | None,
    log: Log | None,
) -> Finding | Skip | None:
    """TensorFlow's own words if it spoke; else the version that the loader takes, against the release's."""
    here = gpu_here(request, container, pci, driver, cuda)
    if not here or trained_on_gpu(training):
        return absent(here)
    spoken = events(log, "cudnn-version-mismatch")
    version = libraries.tensorflow
    known = releases.release(version or "")
    place = next((place for place, one in enumerate(libraries.libraries) if one.soname.startswith("libcudnn.")), None)
    if version is None or known is None or place is None or "+" in version:
        return Skip("which cuDNN this TensorFlow was built with is not known")
    package, path, loaded = (getattr(libraries.libraries[place], name) for name in ("package", "path", "version"))
    evidence = (*saw(libraries, f"libraries[{place}].path", f"libraries[{place}].version"), *spoken)
    if path is None:
        return _other_major(interpreter, packages, known, version, package)
    if loaded is None:
        return Skip("the version of the cuDNN that the loader takes is not known")
    if not versions.at_least(loaded, known.cudnn) or spoken:
        return Finding(
            summary=f"cuDNN {loaded} is older than the {known.cudnn} that TensorFlow {version} was built with, so layers that"
            " need it fail on the GPU."
            if not versions.at_least(loaded, known.cudnn)
            else f"cuDNN {loaded} does not fit TensorFlow {version}, which says so itself, so layers that need it fail on the GPU.",
            evidence=evidence,
            fix=_fixes(interpreter, package, known),
        )
    old = [gpu for gpu in visible_gpus(gpus, cuda) if not tables.cudnn_runs_on(loaded, gpu.capability)]
    if not old:
        return None
    return Finding(
        summary=f"cuDNN {loaded} has no code for {old[0].name} (compute capability {old[0].capability[0]}.{old[0].capability[1]}):"
        f" {tables.CUDNN_LAST_FOR_OLD_GPUS} was the last for GPUs before Turing.",
        evidence=(*evidence, *(item for gpu in old for item in gpu.evidence)),
        fix=_fixes(interpreter, package, known, below="9.11"),
        affects=tuple(gpu.label for gpu in old),
    )


def _other_major(
    interpreter: Interpreter, packages: Packages, known: releases.Release, version: str, package: str | None
) -> Finding | None:
    """libcudnn of the wanted major is absent because a wheel of another one is installed."""
    for place, one in enumerate(packages.nvidia):
        if one.name.startswith("nvidia-cudnn") and versions.parse(one.version)[:1] != versions.parse(known.cudnn)[:1]:
            evidence: tuple[Evidence, ...] = saw(packages, f"nvidia[{place}].name", f"nvidia[{place}].version")
            return Finding(
                summary=f"cuDNN {one.version} is installed, and TensorFlow {version} opens only cuDNN {known.cudnn.partition('.')[0]}.",
                evidence=evidence,
                fix=_fixes(interpreter, package, known),
            )
    return None


def _fixes(interpreter: Interpreter, package: str | None, known: releases.Release, below: str | None = None) -> tuple[Fix, ...]:
    limit = below or str(int(known.cudnn.partition(".")[0]) + 1)
    wanted = f"{package or f'nvidia-cudnn-cu{known.cuda_major}'}>={known.cudnn},<{limit}"
    return (
        Fix(
            text="Install a cuDNN that fits (other frameworks in this environment share it: check that they accept it)",
            command=pip(interpreter, wanted),
        ),
    )
