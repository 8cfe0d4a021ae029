"""TensorFlow loads an incompatible cuDNN: another major version, too old, or without support for this GPU.

Symptom:
    Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0. CuDNN library needs to have matching major version
      and equal or higher minor version.
    INTERNAL: Autotuner could not find any supported configs for HLO: %cudnn-conv-bias-activation (TensorFlow 2.21)
    No DNN in stream executor. [Op:Conv2D]
    DNN library is not found.
    CUDNN_STATUS_ARCH_MISMATCH, CUDNN_STATUS_EXECUTION_FAILED_CUDART (a GPU before Turing with cuDNN 9.11 or newer)
Cause:
    TensorFlow needs the cuDNN major version it was built with, and the same or a newer minor. All packages in an environment
    share one cuDNN, so installing PyTorch can replace it with an older one. From 9.11 on, cuDNN has no code for GPUs older than
    Turing. XLA, which Keras uses on a GPU unless jit_compile=False, could not run some convolutions of TensorFlow 2.21 with cuDNN
    9.3 and 9.5; with 9.24 it can.
Verify:
    gpucheck trains a convolutional network on the GPU.
Unless:
    Your programs do not use cuDNN (no convolution, no recurrent layer).
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

from msgspec.structs import replace

from gpucheck.core.combiners.cuda_gpus import CudaGpus
from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.compat import cuda as cuda_tables
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import convolution_refused, version_text
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import WITHOUT_LIBRARY_PATH
from gpucheck.core.rules.gpu_not_detected._cuda_builds import cuda_build, cudnn_build, jax_build

_FIRST_FOR_CUDA_12 = "8.9"  # of the releases of TensorFlow


@rule(
    scope=Scope.ENVIRONMENT,
    explains=("cudnn-missing", "cudnn-init-failed", "gpus-not-listed", "training-failed", "training-crashed"),
)
def check(
    faults: LibraryFaults, gpus: CudaGpus, log_causes: LogCauses, packages: Packages, context: Context
) -> Finding | Skip | None:
    """Report TensorFlow's own message, else compare the version that the loader finds with the release's."""
    if (refused := _refused_by_xla(faults, log_causes, context)) is not None:
        return refused
    if not faults.presence.present or log_causes.outcomes.trained_on_gpu():
        return faults.presence.skip
    libraries = faults.libraries
    version = libraries.tensorflow
    needed = releases.release(version or "")
    place = next((place for place, library in enumerate(libraries.libraries) if library.soname.startswith("libcudnn.")), None)
    if version is None or needed is None or place is None or "+" in version:
        return Skip("the cuDNN version that this TensorFlow was built with is unknown")
    cudnn = libraries.libraries[place]
    if cudnn.path is None:
        return _other_major(packages, needed, version, cudnn.package, context)
    if cudnn.version is None:
        return Skip("the version of the cuDNN that the loader finds is unknown")
    complaint = log_causes.outcomes.saw_events("cudnn-version-mismatch")
    evidence = (*saw(libraries, f"libraries[{place}].path", f"libraries[{place}].version"), *complaint)
    older = not versions.at_least(cudnn.version, needed.cudnn)
    if older or complaint:
        than = f"is older than the {needed.cudnn} that TensorFlow {version} was built with"
        state = than if older else f"is incompatible with TensorFlow {version}, according to its own message"
        return Finding(
            summary=f"cuDNN {cudnn.version} {state}, so layers that need it fail on the GPU.",
            evidence=evidence,
            fix=repairs(context, package=cudnn.package, compiled=needed.cudnn),
        )
    old = [gpu for gpu in gpus.capable if not cuda_tables.cudnn_runs_on(cudnn.version, gpu.capability)]
    if not old:
        return None
    return Finding(
        summary=f"cuDNN {cudnn.version} does not support {old[0].name} (compute capability {version_text(old[0].capability)}):"
        f" {cuda_tables.CUDNN_LAST_FOR_OLD_GPUS} was the last for GPUs before Turing.",
        evidence=(*evidence, *(item for gpu in old for item in gpu.evidence)),
        fix=repairs(context, package=cudnn.package, compiled=needed.cudnn, status="ARCH_MISMATCH"),
        affects=tuple(gpu.label for gpu in old),
    )


def _refused_by_xla(faults: LibraryFaults, log_causes: LogCauses, context: Context) -> Finding | None:
    """Report a run in which XLA found no way to run a convolution, with a cuDNN that is known to cause this."""
    failed = None if faults.libraries.cudnn_parts_missing else log_causes.failed_run("cudnn-version-mismatch")
    cudnn = next((library for library in faults.libraries.libraries if library.soname.startswith("libcudnn.")), None)
    if failed is None or (cudnn is not None and cudnn.version and versions.at_least(cudnn.version, cuda_tables.CUDNN_FOR_XLA)):
        return None
    summary = convolution_refused(cudnn.version if cudnn is not None else None)
    package = cudnn.package if cudnn is not None else None
    fix = repairs(context, package=package, compiled=cuda_tables.CUDNN_FOR_XLA, xla="yes")
    return Finding(summary=summary, evidence=failed.evidence, fix=fix, affects=failed.affects)


def _other_major(
    packages: Packages, needed: releases.Release, version: str, package: str | None, context: Context
) -> Finding | None:
    """Report that the needed libcudnn is missing because a wheel of another major version is installed."""
    for place, wheel in enumerate(packages.nvidia):
        if wheel.name.startswith("nvidia-cudnn") and versions.parse(wheel.version)[:1] != versions.parse(needed.cudnn)[:1]:
            return Finding(
                summary=f"cuDNN {wheel.version} is installed, but TensorFlow {version} only loads cuDNN"
                f" {needed.cudnn.partition('.')[0]}.",
                evidence=saw(packages, f"nvidia[{place}].name", f"nvidia[{place}].version"),
                fix=repairs(context, package=package, compiled=needed.cudnn),
            )
    return None


def repairs(
    context: Context, *, package: str | None = None, compiled: str = "", minimum: str = "", status: str = "", xla: str = ""
) -> Fixes:
    """Install a compatible cuDNN.

    Args:
        context: what is known about the machine.
        package: the wheel of cuDNN; None for that of CUDA 12.
        compiled: the version that the program was built with, as in its message: "9.3.0", "90300"; empty for TensorFlow's.
        minimum: the oldest version that its message accepts, in the same forms; empty for ``compiled``.
        status: the status of a failed call; with "ARCH_MISMATCH", the GPU is too old for this cuDNN.
        xla: non-empty if only XLA needs a newer one.
    """
    release = releases.release(context.framework_version or "") or releases.RELEASES[releases.LATEST]
    compiled, minimum = (versions.of_cudnn(each) if each.isdecimal() else each for each in (compiled, minimum))
    if minimum and not versions.at_least(compiled, minimum):
        compiled = minimum
    needed = versions.minor(compiled or release.cudnn)
    name = package or "nvidia-cudnn-cu12"
    for_old = Fix(
        text=f"For Pascal and Volta GPUs, stay below {cuda_tables.CUDNN_WITHOUT_OLD_GPUS}",
        command=context.pip(f"{name}>={needed if needed.startswith('9.') else '9'},<{cuda_tables.CUDNN_WITHOUT_OLD_GPUS}"),
    )
    if "ARCH_MISMATCH" in status:
        yield for_old
        return
    fits = f">={needed},<{int(needed.partition('.')[0] or 0) + 1}" if needed != "8.9" else "==8.9.*"
    if xla:
        known = context.gpus.gpus if context.gpus is not None else ()
        if all(cuda_tables.cudnn_runs_on(needed, gpu.compute_capability) for gpu in known if gpu.compute_capability):
            yield cudnn_build(context, "12", fits, name)
        yield Fix(text="Train without XLA: model.compile(..., jit_compile=False)")
        return
    if context.interpreter is not None:
        yield cudnn_build(context, "12", fits, name)
        return
    if context.excludes(framework="tensorflow"):
        if context.framework == "jax" and compiled and needed.startswith("9"):
            yield replace(
                jax_build(context),
                command=context.pip("--upgrade", f"jax[{context.jax_extra}]", f"nvidia-cudnn-cu{context.jax_extra[-2:]}{fits}"),
            )
        repaired = [*cuda_build(context), *context.only(WITHOUT_LIBRARY_PATH, system="linux|wsl")]
        # PyTorch includes its own cuDNN, but the loader found another
        yield from reversed(repaired) if context.framework == "torch" else repaired
    elif not versions.at_least(needed, _FIRST_FOR_CUDA_12):
        yield _before_cuda_12(context, needed, fits)
    else:
        yield cudnn_build(context, "12", fits)
        yield from context.only(WITHOUT_LIBRARY_PATH, system="linux|wsl")
        if needed.startswith("9."):
            yield for_old


def _before_cuda_12(context: Context, needed: str, fits: str) -> Fix:
    if versions.at_least(needed, "8"):
        return cudnn_build(context, "11", fits)
    return Fix(
        text=f"Use a newer TensorFlow, or install cuDNN {needed} from NVIDIA's archive or conda: pip has no release that old"
    )
