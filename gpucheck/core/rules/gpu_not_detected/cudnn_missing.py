"""cuDNN, or a part of it, is not installed, but the other CUDA libraries are.

Symptom:
    Could not load dynamic library 'libcudnn.so.9'; dlerror: libcudnn.so.9: cannot open shared object file
    - Cannot dlopen some GPU libraries.
    Could not locate cudnn_engines_precompiled64_9.dll / libcudnn_engines_precompiled.so.9
    - Autotuner could not find any supported configs for HLO: %cudnn-conv-bw-filter
    DNN library is not found.
Cause:
    NVIDIA ships cuDNN separately from the CUDA toolkit, so a machine can have CUDA without cuDNN; TensorFlow then lists no GPU.
    cuDNN 9 consists of parts that it loads from its own folder at first use: an incomplete copy fails only in training.
Verify:
    gpucheck trains a convolutional network on the GPU.
Unless:
    Never: TensorFlow does not list a GPU without cuDNN.
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
    -> TensorFlow 2.21.0 cannot use the GPU: cuDNN (libcudnn.so.9) is not installed.
References:
    https://docs.nvidia.com/deeplearning/cudnn/installation/latest/linux.html
"""

import re

from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected._cuda_builds import cuda_build, cudnn_build, toolkit


@rule(
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
def check(faults: LibraryFaults, outcomes: TrainingOutcomes, context: Context) -> Finding | Skip | None:
    """Report that only cuDNN is missing, or parts of the copy that is loaded."""
    if faults.presence.present and faults.libraries.cudnn_parts_missing:
        return _partial(faults, outcomes, context)
    missing = faults.blocking("missing")
    if not missing or not all(fault.soname.startswith("libcudnn") for fault in missing):
        return faults.skip
    return Finding(
        summary=f"TensorFlow {faults.libraries.tensorflow} cannot use the GPU: cuDNN ({missing[0].soname}) is not installed.",
        evidence=tuple(item for fault in missing for item in fault.evidence),
        fix=repairs(context, wheel=missing[0].library.package),
    )


def _partial(faults: LibraryFaults, outcomes: TrainingOutcomes, context: Context) -> Finding:
    libraries = faults.libraries
    parts = list(libraries.cudnn_parts_missing)
    package = next((library.package for library in libraries.libraries if library.soname.startswith("libcudnn")), None)
    return Finding(
        summary=f"cuDNN is incomplete: {listing(parts)} {'is' if len(parts) == 1 else 'are'} missing next to libcudnn, so layers"
        " that need it fail on the GPU.",
        evidence=saw(libraries, "cudnn_parts_missing"),
        fix=repairs(context, wheel=package),
        severity=Severity.WARNING if outcomes.trained_on_gpu() else None,
    )


def repairs(context: Context, *, sonames: str = "", beside: str = "", part: str = "", wheel: str | None = None) -> Fixes:
    """Install cuDNN of the requested major version.

    Args:
        context: what is known about the machine.
        sonames: the libraries that are missing: "libcudnn.so.8", "cudnn64_9.dll".
        beside: other CUDA libraries that were found.
        part: non-empty if cuDNN is installed without this part.
        wheel: the package that should contain it, on a live machine.
    """
    if again := context.reinstall([wheel]):
        yield again
        return
    if context.interpreter is not None:
        yield _of_release(context, wheel)
        return
    cuda = toolkit(beside) or toolkit(sonames)
    if context.excludes(framework="tensorflow") or cuda.startswith(("9", "10")):
        yield from cuda_build(context, cuda)
        return
    release = releases.release(context.framework_version or "")
    # without a version, the source files that the log names show how old the release is
    moved = release is None and not cuda and context.framework_before is not None
    wheel_11 = release is not None and any(part.startswith("nvidia-cudnn-cu11") for part in release.and_cuda)
    if context.windows or (not wheel_11 and (cuda.startswith("11") or moved or (release is not None and not release.and_cuda))):
        yield cudnn_build(context, "11", "==8.*")
        yield from cuda_build(context, cuda or "11")
        return
    major = re.search(r"(?:\.so\.|64_)(\d)", sonames)
    eight = major[1] == "8" if major else release is not None and release.cudnn.startswith("8.")
    requirement = f"nvidia-cudnn-cu12{'==8.9.*' if eight else '>=9.3,<10'}"
    if release is not None and wheel_11:
        requirement = f"nvidia-cudnn-cu11>={release.cudnn},<{int(release.cudnn.partition('.')[0]) + 1}"
    again = Fix(text="Reinstall all of its files", command=context.pip("--force-reinstall", "--no-deps", requirement))
    install = Fix(text=f"Install cuDNN (for CUDA {'11' if wheel_11 else '12'})", command=context.pip(requirement))
    yield from (again,) if part else (install, again)
    yield context.cuda_libraries()
    show = Fix.look("If it is installed, check whether the loader finds it", "ldconfig -p | grep libcudnn")
    yield from context.only(show, system="linux|wsl")


def _of_release(context: Context, wheel: str | None) -> Fix:
    version = context.installed.get("tensorflow", "")
    needed = releases.release(version)
    if wheel is None or needed is None:
        return context.cuda_libraries()
    requirement = f"{wheel}>={needed.cudnn},<{int(needed.cudnn.partition('.')[0]) + 1}"
    return Fix(text=f"Install the cuDNN that TensorFlow {version} is built for", command=context.pip(requirement))
