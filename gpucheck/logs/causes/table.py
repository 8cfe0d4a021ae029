"""The simple causes: those that single lines name. ``cause.py`` says how a row is written."""

from gpucheck.logs.causes.cause import Match, Row, refused
from gpucheck.logs.causes.events import Later
from gpucheck.logs.causes.memory import KERNEL_FAULTS
from gpucheck.logs.events import Kind
from gpucheck.model import Severity

NOTHING, GPU_USE = Later.NOTHING, Later.GPU_USE
ERROR, WARNING = Severity.ERROR, Severity.WARNING

_CLASH = "{package}[ {version}] needs {needs}, and pip installed {found}."  # of two packages
_LIMIT = "The limit on {} was reached: the system {}."
_IGNORED = "TensorFlow ignores [GPU {device}|a GPU][ ({name})]: it has {count|few} multiprocessors, and TensorFlow asks for {minimum|more}."
_NO_GPU_CODE = "The {} that is installed was built without CUDA, so it can't use an NVIDIA GPU."
_NOT_FINITE = "The training loss became {value|NaN}[ at step {step}]."
_LACKING = "TensorFlow ended: this processor lacks instructions that it was built to use[ ({instructions})]."

ROWS = (
    # -- CUDA's start --
    Row(
        "compute-mode-exclusive",
        "CUDA was refused a GPU as busy or unavailable (error 46): its compute mode[ {mode}] lets in one process or none.",
        *refused("46"),
        later=GPU_USE,
        beside=Kind.COMPUTE_MODE,
    ),
    # no device was asked for yet
    Row(
        "cuda-environment-malformed",
        "CUDA does not start because a variable has a value that it rejects (error 101), most likely CUDA_DEVICE_ORDER, which takes"
        " FASTEST_FIRST and PCI_BUS_ID only.",
        Match(Kind.CUINIT_FAILED, code="101"),
        later=GPU_USE,
    ),
    Row(
        "cuda-stub-loaded",
        "CUDA does not start because a stub for linking was loaded instead of the driver's libcuda.so.1 (error 34).",
        *(*refused("34"), Match(Kind.STUB_LOADED)),
        later=GPU_USE,
    ),
    # in a forked child, cuInit itself says that it is not initialised
    Row(
        "cuda-used-after-fork",
        "CUDA was started before a fork, and is used after it: {text}.",
        *(*refused("3"), Match(Kind.CUDA_USED_AFTER_FORK)),
        later=GPU_USE,
    ),
    Row(
        "driver-library-missing",
        "The NVIDIA driver is here, but its library libnvidia-ptxjitcompiler.so.1 is not found.",
        Match(Kind.CUDA_ERROR, code="221"),
        later=GPU_USE,
    ),
    Row(
        "driver-library-missing",
        "Slurm cannot detect this node's GPUs: it does not find NVML (libnvidia-ml.so.1), or was built without it.",
        Match(Kind.SCHEDULER_WITHOUT_NVML),
        later=GPU_USE,
    ),
    Row(
        "driver-unresponsive",
        "The NVIDIA driver does not answer: {process|a program} hung in it.",
        Match(Kind.DRIVER_HUNG),
        later=GPU_USE,
    ),
    Row(
        "fabric-manager-down",
        "The NVSwitch fabric that joins the GPUs is not ready: the fabric manager is not running, or not of the driver's version"
        "[ {kernel}].",
        *(Match(Kind.FABRIC_NOT_READY), *refused("802|919"), Match(Kind.NVML_FAILED, code="27")),
        later=GPU_USE,
        beside=Kind.DRIVER_VERSION,
    ),
    Row("no-nvidia-gpu", "No NVIDIA GPU: the driver found none on the bus.", Match(Kind.GPU_ABSENT), later=GPU_USE),
    Row(
        "mig-misconfigured",
        "MIG is on without an instance that could be used: {message/text}.",
        Match(Kind.MIG_FAILED),
        later=GPU_USE,
    ),
    # a board may work without them
    Row(
        "gpu-lost",
        "nvidia-smi finds a board's own records (its infoROM) corrupted.",
        Match(Kind.GPU_SMI_ERROR, "(?i)inforom"),
        later=GPU_USE,
        severity=WARNING,
    ),
    Row(
        "gpu-lost",
        "nvidia-smi prints ERR! where a GPU does not answer, or one of its sensors does not.",
        Match(Kind.GPU_SMI_ERROR),
        later=GPU_USE,
        severity=WARNING,
    ),
    # the fastest GPU is GPU 0, and another one a display card that was left out
    Row(
        "gpu-multiprocessor-count-too-low",
        _IGNORED,
        Match(Kind.GPU_IGNORED, reason="multiprocessors", device="0?"),
        later=GPU_USE,
    ),
    Row(
        "gpu-multiprocessor-count-too-low",
        _IGNORED,
        Match(Kind.GPU_IGNORED, reason="multiprocessors"),
        later=NOTHING,
        severity=WARNING,
    ),
    # -- libraries and packages --
    Row("library-corrupt", "{soname*|A library} can't be loaded: {error|damaged}.", Match(Kind.LIBRARY_CORRUPT), later=GPU_USE),
    Row(
        "cudnn-version-mismatch",
        "cuDNN {loaded} is loaded, and the program was built with {compiled}.",
        Match(Kind.CUDNN_VERSION_MISMATCH),
    ),
    Row(
        "cudnn-version-mismatch",
        "The cuDNN that is loaded does not fit this program or this GPU ({status}).",
        Match(Kind.CUDNN_FAILED, status=".*(VERSION|ARCH)_MISMATCH"),
    ),
    Row("cudnn-version-mismatch", _CLASH, Match(Kind.PIP_CONFLICT, needs=".*cudnn.*"), severity=WARNING),
    Row(
        "cuda-version-mismatch",
        "{library|CUDA} {found} is installed, and the program was built for {built}.",
        Match(Kind.CUDA_VERSION_MISMATCH),
    ),
    Row(
        "platform-unsupported",
        "This program needs {version}, and the C library of this system is older.",
        Match(Kind.SYMBOL_MISSING, version="GLIBC_.*"),
    ),
    Row(
        "platform-unsupported",
        "This system uses the musl C library, and TensorFlow's packages need glibc.",
        Match(Kind.MUSL, "symbol not found|ld-linux"),
    ),
    Row(
        "tensorflow-gpu-package-removed",
        "The package tensorflow-gpu was given up in 2022 and can't be installed any more.",
        Match(Kind.TENSORFLOW_GPU_PACKAGE),
        severity=ERROR,
    ),
    Row(
        "tensorflow-cpu-build",
        _NO_GPU_CODE.format("JAX"),
        Match(Kind.CPU_BUILD, package="jaxlib"),
        later=GPU_USE,
        severity=WARNING,
    ),
    Row("tensorflow-cpu-build", _NO_GPU_CODE.format("JAX"), Match(Kind.CPU_BUILD, "Error: ", package="jaxlib"), later=GPU_USE),
    Row("tensorflow-cpu-build", _NO_GPU_CODE.format("PyTorch"), Match(Kind.CPU_BUILD, "(?i)torch"), later=GPU_USE),
    Row("tensorflow-cpu-build", _NO_GPU_CODE.format("TensorFlow"), Match(Kind.CPU_BUILD, package="(?!jaxlib).*"), later=GPU_USE),
    Row(
        "keras-version-conflict",
        "Versions of Keras and of what uses it do not fit together: {text}.",
        Match(Kind.KERAS_VERSION_CONFLICT, "^(?!.*is not a package)"),
    ),
    # the last two came with Keras 2 only
    Row(
        "keras-version-conflict",
        "{module} is not installed for the Python that ran this.",
        Match(Kind.MODULE_MISSING, module="(tf_)?keras|keras_(preprocessing|applications)"),
    ),
    Row("keras-version-conflict", _CLASH, Match(Kind.PIP_CONFLICT, needs=r"(tf[-_])?keras\b.*"), severity=WARNING),
    Row("tensorflow-import-failed", _LACKING, Match(Kind.CPU_INSTRUCTIONS_MISSING), Match(Kind.KILLED, signal="SIGILL")),
    Row(
        "xla-flags-unknown",
        "XLA_FLAGS holds {flag*|a flag}, which this TensorFlow's XLA does not know, so it ends the process.",
        Match(Kind.XLA_FLAG_UNKNOWN),
        later=NOTHING,
    ),
    # -- programs --
    # a backend, not a name
    Row(
        "training-failed",
        "The program uses {name}, which TensorFlow 2 and Keras have removed.",
        Match(Kind.LEGACY_API, name="(?i)(?!mxnet$).*"),
    ),
    Row("training-failed", "A kernel failed on the GPU: {text}.", Match(Kind.CUDA_ERROR, code=KERNEL_FAULTS)),
    Row(
        "variable-outside-scope",
        "Something was created or used outside the scope of the strategy that trains it: {text}.",
        Match(Kind.VARIABLE_OUTSIDE_SCOPE),
    ),
    Row(
        "precision-unsupported",
        "This device can't compute in {dtype|that precision}.",
        Match(Kind.PRECISION_UNSUPPORTED, "Error"),
        later=NOTHING,
        severity=ERROR,
    ),
    Row(
        "precision-unsupported",
        "{dtype|Mixed precision} is slower than float32 here: no GPU of this job has Tensor Cores for it.",
        Match(Kind.PRECISION_UNSUPPORTED),
        later=NOTHING,
        severity=WARNING,
    ),
    Row("loss-not-finite", _NOT_FINITE, Match(Kind.LOSS_NOT_FINITE, passing=""), later=NOTHING),
    Row("loss-not-finite", _NOT_FINITE, Match(Kind.LOSS_NOT_FINITE)),
    Row("loss-not-falling", "The model does not learn: {text}.", Match(Kind.LOSS_STUCK), severity=WARNING),
    # -- limits and memory --
    Row(
        "cpu-quota-too-low",
        "The program asks for {asked} workers to load data, and this container or job may use {suggested} processors.",
        Match(Kind.CPU_WORKERS_EXCESSIVE),
        later=NOTHING,
    ),
    Row(
        "memory-growth-mixed",
        "Memory growth is not the same on all GPUs, and TensorFlow then refuses to initialise them.",
        Match(Kind.MEMORY_GROWTH_MIXED),
    ),
    Row(
        "memory-growth-too-late",
        "Memory growth was asked for too late: TensorFlow had already initialised the GPU (Physical devices cannot be modified"
        " after being initialized).",
        Match(Kind.MEMORY_GROWTH_TOO_LATE),
    ),
    Row("shared-memory-too-small", "Shared memory (/dev/shm) ran out.", Match(Kind.SHARED_MEMORY_EXHAUSTED), severity=ERROR),
    Row(
        "process-limit-too-low",
        _LIMIT.format("threads or processes", "refused to start another thread"),
        Match(Kind.THREAD_LIMIT),
    ),
    Row("process-limit-too-low", _LIMIT.format("open files", "refused to open another one"), Match(Kind.OPEN_FILES_LIMIT)),
    Row("process-limit-too-low", _LIMIT.format("processor time", "ended the process"), Match(Kind.CPU_TIME_LIMIT)),
    Row("process-limit-too-low", _LIMIT.format("the size of a file", "refused to write more"), Match(Kind.FILE_SIZE_LIMIT)),
    Row(
        "process-limit-too-low",
        "The limit on locked memory is too low for transfers between GPUs and the network.",
        Match(Kind.LOCKED_MEMORY_LIMIT),
        severity=WARNING,
    ),
    # -- speed --
    # a GPU held at its power limit works as it should
    Row(
        "gpu-throttled",
        "A GPU is slowed down ({reason|heat}[, {seconds} s of it]).",
        Match(Kind.GPU_THROTTLED, reason="(?i)(?!.*power cap).*"),
        later=NOTHING,
    ),
    Row(
        "pcie-link-degraded",
        "[The PCIe link of {device}|A PCIe link] has {available} of {capable} Gb/s ({speed}, {width} lanes).",
        Match(Kind.PCIE_LIMITED, capable=".+"),
        later=NOTHING,
    ),
    Row(
        "pcie-link-degraded",
        "[The PCIe link of {device}|A PCIe link] has {width} lanes[ of {width_max}|, fewer than it could].",
        Match(Kind.PCIE_LIMITED),
        later=NOTHING,
    ),
    Row(
        "kernel-cache-unwritable",
        "The cache of compiled GPU kernels[ {path}] can't be written, so each start compiles them again.",
        Match(Kind.KERNEL_CACHE_UNWRITABLE),
        later=NOTHING,
    ),
    Row(
        "kernels-jit-compiled",
        "The first training step will be slow, because TensorFlow has no native kernels for"
        " [a GPU of compute capability {capability}|this GPU] and the driver compiles them.",
        Match(Kind.KERNELS_JIT_COMPILED),
        later=NOTHING,
    ),
    Row(
        "cpu-fallback",
        "Work ran on the CPU that a GPU could have done: {text}.",
        Match(Kind.CPU_FALLBACK),
        later=NOTHING,
        severity=WARNING,
    ),
    Row(
        "input-pipeline-bound",
        "The profiler found that training waits for its input pipeline: {text}.",
        Match(Kind.INPUT_BOUND),
        later=NOTHING,
    ),
    # -- several GPUs and workers --
    Row("nccl-failed", "NCCL failed: {text}.", Match(Kind.NCCL_FAILED)),
    Row("replicas-diverged", "Replicas that must be alike are not: {text}.", Match(Kind.REPLICAS_DIVERGED)),
    Row("replica-count-mismatch", "Ranks {rank} and {other} train on the same GPU.", Match(Kind.GPU_SHARED_BY_RANKS)),
    Row("replica-count-mismatch", "The program asks for {asked} GPUs, and this machine has {count}.", Match(Kind.GPUS_REQUESTED)),
    Row("worker-version-skew", "Workers of one job run different versions: {text}.", Match(Kind.WORKER_VERSION_SKEW)),
    Row(
        "tf-config-malformed",
        "The cluster that TensorFlow was given lacks this worker's own task: {message/text}.",
        Match(Kind.TF_CONFIG_MALFORMED, source="server"),
    ),
    Row("tf-config-malformed", "TensorFlow could not use TF_CONFIG: {message/text}.", Match(Kind.TF_CONFIG_MALFORMED)),
    # -- TPUs --
    Row("tpu-busy", "The TPU is in use: {text}.", Match(Kind.TPU_FAILED, reason="busy")),
    Row(
        "tpu-generation-unsupported", "TensorFlow does not support this TPU: {text}.", Match(Kind.TPU_FAILED, reason="generation")
    ),
    Row("tpu-not-found", "No TPU found: {text}.", Match(Kind.TPU_FAILED, reason="not-found")),
    Row("tpu-runtime-missing", "The TPU runtime is missing: {text}.", Match(Kind.TPU_FAILED, reason="runtime-missing")),
    Row("tpu-unreachable", "TensorFlow could not connect to the TPU: {text}.", Match(Kind.TPU_FAILED, reason="unreachable")),
    Row("tpu-version-mismatch", "TensorFlow and libtpu do not fit: {text}.", Match(Kind.TPU_FAILED, reason="version")),
)
