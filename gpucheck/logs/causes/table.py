"""The simple causes: those that a single line names. ``cause.py`` says how a row is written."""

from gpucheck.logs.causes.cause import Match, Row, refused
from gpucheck.logs.causes.events import Later
from gpucheck.logs.causes.memory import KERNEL_FAULTS
from gpucheck.logs.events import Kind
from gpucheck.model import Severity

ROWS: dict[str, tuple[Row, ...]] = {
    # -- CUDA's start --
    "compute-mode-exclusive": (
        Row(
            refused("46"),
            Later.GPU_USE,
            "CUDA was refused a GPU as busy or unavailable (error 46): its compute mode[ {mode}] lets in one process or none.",
            beside=Kind.COMPUTE_MODE,
        ),
    ),
    "cuda-environment-malformed": (
        Row(
            (Match(Kind.CUINIT_FAILED, code="101"),),  # no device was asked for yet
            Later.GPU_USE,
            "CUDA does not start because a variable has a value that it rejects (error 101), most likely CUDA_DEVICE_ORDER, which takes"
            " FASTEST_FIRST and PCI_BUS_ID only.",
        ),
    ),
    "cuda-stub-loaded": (
        Row(
            (*refused("34"), Match(Kind.STUB_LOADED)),
            Later.GPU_USE,
            "CUDA does not start because a stub for linking was loaded instead of the driver's libcuda.so.1 (error 34).",
        ),
    ),
    "driver-library-missing": (
        Row(
            (Match(Kind.CUDA_ERROR, code="221"),),
            Later.GPU_USE,
            "The NVIDIA driver is here, but its library libnvidia-ptxjitcompiler.so.1 is not found.",
        ),
        Row(
            (Match(Kind.SCHEDULER_WITHOUT_NVML),),
            Later.GPU_USE,
            "Slurm cannot detect this node's GPUs: it does not find NVML (libnvidia-ml.so.1), or was built without it.",
        ),
    ),
    "driver-unresponsive": (
        Row((Match(Kind.DRIVER_HUNG),), Later.GPU_USE, "The NVIDIA driver does not answer: {process|a program} hung in it."),
    ),
    "fabric-manager-down": (
        Row(
            (Match(Kind.FABRIC_NOT_READY), *refused("802|919"), Match(Kind.NVML_FAILED, code="27")),
            Later.GPU_USE,
            "The NVSwitch fabric that joins the GPUs is not ready: the fabric manager is not running, or not of the driver's"
            " version[ {kernel}].",
            beside=Kind.DRIVER_VERSION,
        ),
    ),
    "mig-misconfigured": (
        Row((Match(Kind.MIG_FAILED),), Later.GPU_USE, "MIG is on without an instance that could be used: {message/text}."),
    ),
    # -- programs and their settings --
    "xla-flags-unknown": (
        Row(
            (Match(Kind.XLA_FLAG_UNKNOWN),),
            Later.NOTHING,
            "XLA_FLAGS holds {flag*|a flag}, which this TensorFlow's XLA does not know, so it ends the process.",
        ),
    ),
    "cuda-version-mismatch": (
        Row(
            (Match(Kind.CUDA_VERSION_MISMATCH),),
            Later.TRAINING,
            "{library|CUDA} {found} is installed, and the program was built for {built}.",
        ),
    ),
    "training-failed": (
        Row(
            (Match(Kind.LEGACY_API, name="(?i)(?!mxnet$).*"),),  # a backend, not a name
            Later.TRAINING,
            "The program uses {name}, which TensorFlow 2 and Keras have removed.",
        ),
        Row((Match(Kind.CUDA_ERROR, code=KERNEL_FAULTS),), Later.TRAINING, "A kernel failed on the GPU: {text}."),
    ),
    "variable-outside-scope": (
        Row(
            (Match(Kind.VARIABLE_OUTSIDE_SCOPE),),
            Later.TRAINING,
            "Something was created or used outside the scope of the strategy that trains it: {text}.",
        ),
    ),
    "precision-unsupported": (
        Row(
            (Match(Kind.PRECISION_UNSUPPORTED, "Error"),),
            Later.NOTHING,
            "This device can't compute in {dtype|that precision}.",
            Severity.ERROR,
        ),
        Row(
            (Match(Kind.PRECISION_UNSUPPORTED),),
            Later.NOTHING,
            "{dtype|Mixed precision} is slower than float32 here: no GPU of this job has Tensor Cores for it.",
            Severity.WARNING,
        ),
    ),
    "loss-not-finite": (
        Row((Match(Kind.LOSS_NOT_FINITE, passing=""),), Later.NOTHING, "The training loss became {value|NaN}[ at step {step}]."),
        Row(
            (Match(Kind.LOSS_NOT_FINITE, passing=".+"),), Later.TRAINING, "The training loss became {value|NaN}[ at step {step}]."
        ),
    ),
    # -- limits and memory --
    "cpu-quota-too-low": (
        Row(
            (Match(Kind.CPU_WORKERS_EXCESSIVE),),
            Later.NOTHING,
            "The program asks for {asked} workers to load data, and this container or job may use {suggested} processors.",
        ),
    ),
    "memory-growth-mixed": (
        Row(
            (Match(Kind.MEMORY_GROWTH_MIXED),),
            Later.TRAINING,
            "Memory growth is not the same on all GPUs, and TensorFlow then refuses to initialise them.",
        ),
    ),
    "memory-growth-too-late": (
        Row(
            (Match(Kind.MEMORY_GROWTH_TOO_LATE),),
            Later.TRAINING,
            "Memory growth was asked for too late: TensorFlow had already initialised the GPU (Physical devices cannot be modified"
            " after being initialized).",
        ),
    ),
    "shared-memory-too-small": (
        Row((Match(Kind.SHARED_MEMORY_EXHAUSTED),), Later.TRAINING, "Shared memory (/dev/shm) ran out.", Severity.ERROR),
    ),
    "process-limit-too-low": (
        Row(
            (Match(Kind.THREAD_LIMIT),),
            Later.TRAINING,
            "A limit on threads or processes was reached: the system refused to start another thread.",
        ),
        Row(
            (Match(Kind.OPEN_FILES_LIMIT),),
            Later.TRAINING,
            "The limit on open files was reached: the system refused to open another one.",
        ),
        Row(
            (Match(Kind.CPU_TIME_LIMIT),),
            Later.TRAINING,
            "The limit on processor time was reached: the system ended the process.",
        ),
        Row(
            (Match(Kind.FILE_SIZE_LIMIT),),
            Later.TRAINING,
            "The limit on the size of a file was reached: the system refused to write more.",
        ),
        Row(
            (Match(Kind.LOCKED_MEMORY_LIMIT),),
            Later.TRAINING,
            "The limit on locked memory is too low for transfers between GPUs and the network.",
            Severity.WARNING,
        ),
    ),
    # -- speed --
    "gpu-throttled": (
        Row(
            (Match(Kind.GPU_THROTTLED, reason="(?i)(?!.*power cap).*"),),  # a GPU held at its power limit works as it should
            Later.NOTHING,
            "A GPU is slowed down ({reason|heat}[, {seconds} s of it]).",
        ),
    ),
    "pcie-link-degraded": (
        Row(
            (Match(Kind.PCIE_LIMITED, capable=".+"),),
            Later.NOTHING,
            "[The PCIe link of {device}|A PCIe link] has {available} of {capable} Gb/s ({speed}, {width} lanes).",
        ),
        Row(
            (Match(Kind.PCIE_LIMITED),),
            Later.NOTHING,
            "[The PCIe link of {device}|A PCIe link] has {width} lanes[ of {width_max}|, fewer than it could].",
        ),
    ),
    "kernel-cache-unwritable": (
        Row(
            (Match(Kind.KERNEL_CACHE_UNWRITABLE),),
            Later.NOTHING,
            "The cache of compiled GPU kernels[ {path}] can't be written, so each start compiles them again.",
        ),
    ),
    "kernels-jit-compiled": (
        Row(
            (Match(Kind.KERNELS_JIT_COMPILED),),
            Later.NOTHING,
            "The first training step will be slow, because TensorFlow has no native kernels for"
            " [a GPU of compute capability {capability}|this GPU] and the driver compiles them.",
        ),
    ),
    "cpu-fallback": (
        Row(
            (Match(Kind.CPU_FALLBACK),),
            Later.NOTHING,
            "Work ran on the CPU that a GPU could have done: {text}.",
            Severity.WARNING,
        ),
    ),
    "input-pipeline-bound": (
        Row((Match(Kind.INPUT_BOUND),), Later.NOTHING, "The profiler found that training waits for its input pipeline: {text}."),
    ),
    # -- several GPUs and workers --
    "nccl-failed": (Row((Match(Kind.NCCL_FAILED),), Later.TRAINING, "NCCL failed: {text}."),),
    "replicas-diverged": (Row((Match(Kind.REPLICAS_DIVERGED),), Later.TRAINING, "Replicas that must be alike are not: {text}."),),
    "replica-count-mismatch": (
        Row((Match(Kind.GPU_SHARED_BY_RANKS),), Later.TRAINING, "Ranks {rank} and {other} train on the same GPU."),
        Row((Match(Kind.GPUS_REQUESTED),), Later.TRAINING, "The program asks for {asked} GPUs, and this machine has {count}."),
    ),
    "worker-version-skew": (
        Row((Match(Kind.WORKER_VERSION_SKEW),), Later.TRAINING, "Workers of one job run different versions: {text}."),
    ),
    "tf-config-malformed": (
        Row(
            (Match(Kind.TF_CONFIG_MALFORMED, source="server"),),
            Later.TRAINING,
            "The cluster that TensorFlow was given lacks this worker's own task: {message/text}.",
        ),
        Row((Match(Kind.TF_CONFIG_MALFORMED),), Later.TRAINING, "TensorFlow could not use TF_CONFIG: {message/text}."),
    ),
    # -- TPUs --
    "tpu-busy": (Row((Match(Kind.TPU_FAILED, reason="busy"),), Later.TRAINING, "The TPU is in use: {text}."),),
    "tpu-generation-unsupported": (
        Row((Match(Kind.TPU_FAILED, reason="generation"),), Later.TRAINING, "TensorFlow does not support this TPU: {text}."),
    ),
    "tpu-not-found": (Row((Match(Kind.TPU_FAILED, reason="not-found"),), Later.TRAINING, "No TPU found: {text}."),),
    "tpu-runtime-missing": (
        Row((Match(Kind.TPU_FAILED, reason="runtime-missing"),), Later.TRAINING, "The TPU runtime is missing: {text}."),
    ),
    "tpu-version-mismatch": (
        Row((Match(Kind.TPU_FAILED, reason="version"),), Later.TRAINING, "TensorFlow and libtpu do not fit: {text}."),
    ),
}
