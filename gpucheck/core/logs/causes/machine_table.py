"""Simple causes, which single lines name: of the machine. ``cause.py`` says how a row is written."""

from gpucheck.core.logs.causes.cause import Match, Row, refused
from gpucheck.core.logs.causes.events import Later
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Severity
from gpucheck.core.repairs import process_limits

NOTHING, GPU_USE = Later.NOTHING, Later.GPU_USE
ERROR, WARNING = Severity.ERROR, Severity.WARNING

_IGNORED = "TensorFlow ignores [GPU {device}|a GPU][ ({name})]: it has {count|few} multiprocessors, and TensorFlow asks for {minimum|more}."

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
        " FASTEST_FIRST and PCI_BUS_ID only, or CUDA_VISIBLE_DEVICES, which may name no GPU twice.",
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
    Row(
        "device-nodes-missing",
        "CUDA cannot start because a device file of the driver is missing: {path*}.",
        Match(Kind.DEVICE_NODE_MISSING, path="(?!.*dxg$).*"),
        later=GPU_USE,
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
        affects="[GPU {device}]",
        later=GPU_USE,
    ),
    Row(
        "gpu-multiprocessor-count-too-low",
        _IGNORED,
        Match(Kind.GPU_IGNORED, reason="multiprocessors"),
        affects="[GPU {device}]",
        later=NOTHING,
        severity=WARNING,
    ),
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
    *(
        Row("process-limit-too-low", limit.summary, Match(kind), severity=limit.severity)
        for kind, limit in process_limits.REACHED.items()
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
