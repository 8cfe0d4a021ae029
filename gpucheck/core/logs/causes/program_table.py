"""Causes related to packages and programs that a single line identifies. ``cause.py`` documents the syntax of rows."""

from gpucheck.core.compat import removed
from gpucheck.core.logs.causes.cause import Match, Row, always, until_gpu_use
from gpucheck.core.logs.causes.memory import KERNEL_FAULTS
from gpucheck.core.model import Severity
from gpucheck.core.model.wording import OUTSIDE_SCOPE, XLA_FILE_UNREADABLE, no_temporary_folder

ERROR, WARNING = Severity.ERROR, Severity.WARNING

_CLASH = "{package}[ {version}] needs {needs}, but pip installed {found}."  # of two packages
_NO_GPU_CODE = "The installed {} was built without CUDA, so it can't use an NVIDIA GPU."
_NOT_FINITE = "The training {metric|loss} became {value|NaN}[ in epoch {epoch}][ at step {step}]."
_LACKING = "TensorFlow aborted: this CPU lacks instructions that this build of TensorFlow uses[ ({instructions})]."
_ILLEGAL = "The program crashed: it used an instruction that this CPU does not have, and TensorFlow for x86-64 needs AVX."

# Diagnoses that gpucheck.keras.Watch reports during training; the last seven if it trains on the CPU despite a GPU. A loss has its own rows.
_WATCHED = """
input-pipeline-bound gpu-throttled gpu-lost driver-unresponsive replica-count-mismatch host-memory-exhausted gpus-not-listed
cpu-fallback cuda-libraries-unreachable cuda-libraries-missing cuda-version-mismatch cudnn-missing library-path-conflict
tensorflow-cpu-build devices-hidden
"""

ROWS = (
    # -- libraries and packages --
    until_gpu_use("library-corrupt", "{soname*|A library} can't be loaded: {error|damaged}.", Match("library-corrupt")),
    Row(
        "cudnn-version-mismatch",
        "cuDNN {loaded} is loaded, but the program [needs {minimum}|was built with {compiled}].",
        Match("cudnn-version-mismatch"),
    ),
    Row(
        "cudnn-version-mismatch",
        "The loaded cuDNN is incompatible with this program or this GPU ({status}).",
        Match("cudnn-failed", status=".*(VERSION|ARCH)_MISMATCH"),
    ),
    Row("cudnn-version-mismatch", _CLASH, Match("pip-conflict", needs=".*cudnn.*"), severity=WARNING),
    Row(
        "cuda-version-mismatch",
        "{library|CUDA} {found} is installed, but the program was built for {built}.",
        Match("cuda-version-mismatch"),
    ),
    Row(
        "platform-unsupported",
        "This program needs {version}, but the C library of this system is older.",
        Match("symbol-missing", version="GLIBC_.*"),
    ),
    Row(
        "platform-unsupported",
        "This system uses the musl C library, but TensorFlow's packages need glibc.",
        Match("musl", "symbol not found|ld-linux"),
    ),
    Row(
        "model-saving-unavailable",
        "Keras can't save or load models: it could not import h5py.",
        Match("h5py-missing"),
        severity=ERROR,
    ),
    Row(
        "tensorflow-gpu-package-removed",
        "The package tensorflow-gpu was discontinued in 2022 and can't be installed any more.",
        Match("tensorflow-gpu-package"),
        severity=ERROR,
    ),
    until_gpu_use(
        "tensorflow-cpu-build",
        "JAX found no GPU, most likely because the installed jaxlib was built without CUDA.",
        Match("cpu-build", "No GPU/TPU found", package="jaxlib"),
        severity=WARNING,
    ),
    until_gpu_use("tensorflow-cpu-build", _NO_GPU_CODE.format("JAX"), Match("cpu-build", package="jaxlib"), severity=WARNING),
    until_gpu_use("tensorflow-cpu-build", _NO_GPU_CODE.format("JAX"), Match("cpu-build", "Error: ", package="jaxlib")),
    until_gpu_use("tensorflow-cpu-build", _NO_GPU_CODE.format("PyTorch"), Match("cpu-build", "(?i)torch")),
    until_gpu_use("tensorflow-cpu-build", _NO_GPU_CODE.format("TensorFlow"), Match("cpu-build", package="(?!jaxlib).*")),
    Row(
        "keras-version-conflict",
        "This program or package is incompatible with the installed Keras: {text}.",
        Match("keras-version-conflict", "^(?!.*is not a package)"),
    ),
    # the last two were included in Keras 2 only
    Row(
        "keras-version-conflict",
        "{module} is not installed for the Python that ran this.",
        Match("module-missing", module="(tf_)?keras|keras_(preprocessing|applications)"),
    ),
    Row(
        "keras-version-conflict",
        _CLASH,
        Match("pip-conflict", needs=r"(tf[-_])?keras\b.*"),
        Match("pip-conflict", package="tf[-_]keras", needs="tensorflow.*"),
        severity=WARNING,
    ),
    Row(
        "tensorflow-import-failed",
        _CLASH,
        Match(
            "pip-conflict",
            package="(?i)(tensorflow|keras|protobuf|numpy|ml_dtypes|h5py).*",
            needs=r"(numpy|protobuf|h5py|typing|ml[-_]dtypes|flatb).*",
        ),
        severity=WARNING,
    ),
    Row(
        "temporary-folder-missing",
        no_temporary_folder("[ ({folders})]"),
        Match("temporary-folder-missing"),
    ),
    Row(
        "tensorflow-not-installed",
        "pip refuses to install into this system's Python, which belongs to the system's package manager: an environment is needed.",
        Match("pip-system-python"),
    ),
    Row("tensorflow-import-failed", _LACKING, Match("cpu-instructions-missing")),
    Row("tensorflow-import-failed", _ILLEGAL, Match("killed", signal="SIGILL")),
    always(
        "xla-flags-unknown",
        XLA_FILE_UNREADABLE,
        Match("xla-flag-unknown", file=".+"),
    ),
    always(
        "xla-flags-unknown",
        "{variable|XLA_FLAGS} contains {flag*|a flag}, which XLA in this TensorFlow does not support, so it aborts the process.",
        Match("xla-flag-unknown"),
    ),
    # -- programs --
    *(Row(page, "The program uses {name}, which {why}.", Match("legacy-api", page=page)) for page in removed.PAGES),
    Row("training-failed", "A kernel failed on the GPU: {text}.", Match("cuda-error", code=KERNEL_FAULTS)),
    Row(
        "training-failed",
        "The program failed: {said/text}.",
        Match("program-error", mild="", last=""),
    ),
    Row("training-failed", "Training ended early: {text}.", Match("program-error", mild="yes"), severity=WARNING),
    Row(
        "variable-outside-scope",
        OUTSIDE_SCOPE,
        Match("variable-outside-scope"),
    ),
    always(
        "precision-unsupported",
        "This device can't compute in {dtype|that precision}.",
        Match("precision-unsupported", "Error"),
        severity=ERROR,
    ),
    always(
        "precision-unsupported",
        "{dtype|Mixed precision} is slower than float32 here: no GPU of this job has Tensor Cores for it.",
        Match("precision-unsupported"),
        severity=WARNING,
    ),
    always(
        "loss-not-finite",
        "[The output of the operation {operation}|A tensor that the program checks] became {value}.",
        Match("loss-not-finite", checked="yes"),
        also_cite="float16-used",
    ),
    always("loss-not-finite", _NOT_FINITE, Match("loss-not-finite", passing="", checked=""), also_cite="float16-used"),
    Row("loss-not-finite", _NOT_FINITE, Match("loss-not-finite", checked=""), also_cite="float16-used"),
    *(always(code, "Watch reports: {message}.", Match("watched", code=code)) for code in _WATCHED.split()),
    Row("loss-not-falling", "The model does not learn: {text}.", Match("loss-stuck"), severity=WARNING),
)
