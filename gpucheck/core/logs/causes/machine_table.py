"""Causes related to the machine that a single line identifies. ``cause.py`` documents the syntax of rows."""

from gpucheck.core.compat.cuda import CUDA_ERROR_NOT_INITIALIZED, results_of
from gpucheck.core.logs.causes.cause import Match, Row, always, refused, until_gpu_use
from gpucheck.core.model import Action, Severity
from gpucheck.core.model.wording import GROWTH_TOO_LATE, REACHED

ERROR, WARNING = Severity.ERROR, Severity.WARNING

_IGNORED = "TensorFlow ignores [GPU {device}|a GPU][ ({name})]: it has {count|few} multiprocessors, and TensorFlow requires {minimum|more}."

ROWS = (
    # -- CUDA's start --
    until_gpu_use(
        "compute-mode-exclusive",
        "CUDA reports a GPU as busy or unavailable (error 46): [its compute mode {mode}|usually its compute mode] allows one process or none.",
        *refused(46),
        also_cite="compute-mode",
    ),
    until_gpu_use(
        "compute-mode-exclusive",
        "The compute mode of a GPU is Prohibited, which refuses every program.",
        Match("compute-mode", mode=".*prohibited"),
    ),
    # no device was requested yet
    until_gpu_use(
        "cuda-environment-malformed",
        "CUDA can't be initialized because a variable has an invalid value (error 101), most likely CUDA_DEVICE_ORDER, which accepts"
        " only FASTEST_FIRST and PCI_BUS_ID, or CUDA_VISIBLE_DEVICES, which must not name a GPU twice.",
        Match("cuinit-failed", code="101"),
    ),
    until_gpu_use(
        "cuda-stub-loaded",
        "CUDA can't be initialized because a stub for linking was loaded instead of the driver's libcuda.so.1 (error 34).",
        *(*refused(*results_of("cuda-stub-loaded")), Match("stub-loaded")),
    ),
    # in a forked child, cuInit itself reports that it is not initialized
    until_gpu_use(
        "cuda-used-after-fork",
        "CUDA was initialized before a fork and is used after it: {text}.",
        *(*refused(CUDA_ERROR_NOT_INITIALIZED), Match("cuda-used-after-fork")),
    ),
    until_gpu_use(
        "driver-library-missing",
        "The NVIDIA driver is installed, but its library libnvidia-ptxjitcompiler.so.1 is not found.",
        refused(*results_of("driver-library-missing"))[1],
    ),
    until_gpu_use(
        "driver-library-missing",
        "Slurm cannot detect this node's GPUs: NVML (libnvidia-ml.so.1) was not found, or Slurm was built without it.",
        Match("scheduler-without-nvml"),
    ),
    until_gpu_use(
        "driver-unresponsive",
        "The NVIDIA driver does not respond: {process|a program} hangs in it.",
        Match("driver-hung"),
        action=Action.REBOOT,
    ),
    until_gpu_use(
        "fabric-manager-down",
        "A GPU could not join the NVSwitch fabric that connects the GPUs: the status of its fabric is {status}.",
        Match("fabric-not-ready", status=".+"),
        action=Action.DRAIN,
    ),
    until_gpu_use(
        "fabric-manager-down",
        "The NVSwitch fabric that connects the GPUs is not ready: the fabric manager is not running, or not of the driver's version"
        "[ {kernel}].",
        *(Match("fabric-not-ready", status=""), *refused(*results_of("fabric-manager-down")), Match("nvml-failed", code="27")),
        also_cite="driver-version",
        unless="nvswitch-absent",
        action=Action.DRAIN,
    ),
    until_gpu_use(
        "device-nodes-missing",
        "CUDA can't be initialized because a device file of the driver is missing: {path*}.",
        Match("device-node-missing", path="(?!.*dxg$).*"),
    ),
    until_gpu_use("no-nvidia-gpu", "No NVIDIA GPU: the driver found none on the PCI bus.", Match("gpu-absent")),
    until_gpu_use("mig-misconfigured", "MIG is enabled without a usable instance: {message/text}.", Match("mig-failed")),
    # a board may work without it
    until_gpu_use(
        "gpu-lost",
        "nvidia-smi reports a corrupted infoROM (the board's stored data).",
        Match("gpu-smi-error", "(?i)inforom"),
        action=Action.IGNORE,
    ),
    until_gpu_use(
        "gpu-lost",
        "nvidia-smi prints ERR!: a GPU or one of its sensors does not respond.",
        Match("gpu-smi-error"),
        action=Action.IGNORE,
    ),
    # the fastest GPU is GPU 0, and the ignored one a display card
    until_gpu_use(
        "gpu-multiprocessor-count-too-low",
        _IGNORED,
        Match("gpu-ignored", reason="multiprocessors", device="0?"),
        affects="[GPU {device}]",
    ),
    always(
        "gpu-multiprocessor-count-too-low",
        _IGNORED,
        Match("gpu-ignored", reason="multiprocessors"),
        affects="[GPU {device}]",
        severity=WARNING,
    ),
    # -- limits and memory --
    always(
        "cpu-quota-too-low",
        "The program requests {asked} workers to load data, but this container or job is limited to {suggested} CPUs.",
        Match("cpu-workers-excessive"),
    ),
    Row(
        "memory-growth-mixed",
        "Memory growth differs between GPUs, so TensorFlow fails to initialize them.",
        Match("memory-growth-mixed"),
    ),
    Row(
        "memory-growth-too-late",
        "The GPUs were configured too late: TensorFlow had already initialized them ({devices} devices cannot be modified after"
        " being initialized).",
        Match("memory-growth-too-late", devices="Visible|Virtual|Logical"),
    ),
    Row(
        "memory-growth-too-late",
        GROWTH_TOO_LATE,
        Match("memory-growth-too-late"),
    ),
    Row("shared-memory-too-small", "Shared memory (/dev/shm) ran out.", Match("shared-memory-exhausted"), severity=ERROR),
    *(Row("process-limit-too-low", limit.summary, Match(kind), severity=limit.severity) for kind, limit in REACHED.items()),
    # -- speed --
    # a GPU limited by its power limit is healthy
    always(
        "gpu-throttled",
        "[GPU {index}|A GPU] is throttled ({reason|heat}[, {seconds} s of it]).",
        Match("gpu-throttled", reason="(?i)(?!.*power cap).*"),
        affects="[GPU {index}]",
        action=Action.IGNORE,
    ),
    always(
        "pcie-link-degraded",
        "[The PCIe link of {device}|A PCIe link] has {available} of {capable} Gb/s ({speed}, {width} lanes).",
        Match("pcie-limited", capable=".+"),
        action=Action.IGNORE,
    ),
    always(
        "pcie-link-degraded",
        "[The PCIe link of {device}|A PCIe link] has {width} lanes[ of {width_max}|, fewer than it supports].",
        Match("pcie-limited"),
        action=Action.IGNORE,
    ),
    always(
        "kernel-cache-unwritable",
        "The cache of compiled GPU kernels[ {path}] is not writable, so each start compiles them again.",
        Match("kernel-cache-unwritable"),
    ),
    always(
        "kernels-jit-compiled",
        "The first training step will be slow, because TensorFlow has no native kernels for"
        " [a GPU of compute capability {capability}|this GPU] and the driver compiles them.",
        Match("kernels-jit-compiled"),
    ),
    always("cpu-fallback", "Operations ran on the CPU instead of a GPU: {text}.", Match("cpu-fallback"), severity=WARNING),
    until_gpu_use(
        "cpu-fallback",
        "The strategy trains on the CPU only: {text}.",
        Match("strategy-devices", strategy="MirroredStrategy", devices="CPU", count="1"),
        severity=WARNING,
    ),
    always(
        "input-pipeline-bound",
        "The profiler found that training waits for its input pipeline: {text}.",
        Match("input-bound"),
    ),
    # -- several GPUs and workers --
    Row("nccl-failed", "NCCL failed: {text}.", Match("nccl-failed", "interface found"), also_cite="nccl-interface"),
    Row("nccl-failed", "NCCL failed: {text}.", Match("nccl-failed")),
    Row("replicas-diverged", "Replicas that must be equal differ: {text}.", Match("replicas-diverged")),
    Row(
        "replica-count-mismatch",
        "[Ranks {rank} and {other}|Several ranks] train on the same GPU.",
        Match("gpu-shared-by-ranks"),
    ),
    Row("replica-count-mismatch", "The program requests {asked} GPUs, but this machine has {count}.", Match("gpus-requested")),
    Row("worker-version-skew", "Workers of one job run different versions: {text}.", Match("worker-version-skew")),
    Row(
        "tf-config-malformed",
        "The cluster configuration lacks this worker's task: {message/text}.",
        Match("tf-config-malformed", source="server"),
    ),
    Row("tf-config-malformed", "TensorFlow could not use TF_CONFIG: {message/text}.", Match("tf-config-malformed")),
    # -- TPUs --
    Row("tpu-busy", "The TPU is in use: {text}.", Match("tpu-failed", reason="busy")),
    Row("tpu-generation-unsupported", "TensorFlow does not support this TPU: {text}.", Match("tpu-failed", reason="generation")),
    Row("tpu-not-found", "No TPU found: {said/text}.", Match("tpu-failed", reason="not-found")),
    Row("tpu-runtime-missing", "The TPU runtime is missing: {text}.", Match("tpu-failed", reason="runtime-missing")),
    Row("tpu-unreachable", "The program could not connect to the TPU: {text}.", Match("tpu-failed", reason="unreachable")),
)
