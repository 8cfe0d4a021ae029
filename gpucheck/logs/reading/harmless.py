"""Lines that look bad and are not, each with the reason; and failures after which training went on."""

import re
from collections.abc import Iterable

from gpucheck.logs.events import Event, Kind
from gpucheck.logs.reading.patterns import Pattern, fixed

KIND = Kind.HARMLESS
_OPTIMIZERS = (
    *("arithmetic_optimizer", "auto_mixed_precision", "autoparallel", "common_subgraph_elimination", "constant_folding"),
    *("debug_stripper", "dependency_optimizer", "function_optimizer", "implementation_selector", "layout", "loop_optimizer"),
    *("memory_optimizer", "model_pruner", "pin_to_host_optimizer", "remapper", "scoped_allocator_optimizer", "shape_optimizer"),
    "tfg_optimizer{}",
)


def _noise(musts: tuple[str, ...], pattern: str, reason: str) -> Pattern:
    return Pattern(KIND, musts, pattern, fixed(reason=reason))


PATTERNS = (
    # -- TensorFlow and XLA at their start --
    _noise(
        ("onednn",),
        r"oneDNN custom operations are on|optimized with (?:Intel\(R\) )?one(?:API|DNN)",
        "TensorFlow tells which routines it uses on the CPU; results may differ in the last digits.",
    ),
    _noise(
        ("optimized to use available cpu", "instructions that this tensorflow binary", "rebuild tensorflow with the"),
        r"optimized to use available CPU instructions|instructions that this TensorFlow binary was not compiled"
        r"|rebuild TensorFlow with the appropriate compiler flags",
        "The CPU could do a little more than this build uses; it has nothing to do with the GPU.",
    ),
    _noise(
        ("unable to register cu",),
        r"Unable to register cu(?:DNN|FFT|BLAS) factory",
        "Two parts of TensorFlow register the same plug-in and the first one stays; graded as an error, and none.",
    ),
    _noise(
        ("computation placer already registered",),
        r"computation placer already registered",
        "Two parts of TensorFlow register the same plug-in, and the first one stays.",
    ),
    _noise(
        ("numa node", "numa support"),
        r"NUMA node read from SysFS had negative value|could not open file to read NUMA node|built with(?:out)? NUMA support"
        r"|Could not identify NUMA node of platform",
        "The machine, or its virtual one, does not say which CPU a GPU is next to; node 0 is assumed.",
    ),
    _noise(
        ("tf-trt warning", "libnvinfer", "dlopen some tensorrt"),
        r"TF-TRT Warning|[Cc]ould not load dynamic library 'libnvinfer|[Cc]annot dlopen some TensorRT",
        "TensorRT is optional and only used where a program converts its model for it.",
    ),
    _noise(
        ("mlir crash reproducer",), r"disabling MLIR crash reproducer", "A debugging aid for compiler authors is off, as usual."
    ),
    _noise(
        ("before absl::initializelog",), r"All log messages before absl::InitializeLog", "Says where early messages are written."
    ),
    _noise(
        ("tf_force_gpu_allow_growth",),
        r"Overriding (?:orig_value|allow_growth) setting because the TF_FORCE_GPU_ALLOW_GROWTH",
        "The environment variable was seen and is obeyed.",
    ),
    _noise(
        ("does not guarantee that xla",),
        r"this does not guarantee that XLA will be used",
        "XLA is ready; whether a program uses it is up to the program.",
    ),
    _noise(
        ("cuda diagnostic information", "verbose logging", "reported version is", "seems to match dso"),
        r"CUDA diagnostic information|Rerun with verbose logging|(?:libcuda|kernel) reported version is"
        r"|kernel version seems to match DSO",
        "Describes the machine after CUDA did not start; the line before it says what failed.",
    ),
    _noise(
        ("failed to determine cudnn version",),
        r"Failed to determine cuDNN version \(Note that this is expected",
        "A program that does not use cuDNN's plug-in cannot ask for its version, as the line says itself.",
    ),
    _noise(
        ("if you do not have a gpu set up",), r"Ignore above cudart dlerror", "Without a GPU, the CUDA runtime is not needed."
    ),
    # -- while it works --
    _noise(
        ("does not indicate an error",),
        r"\bthis does not indicate an error\b",
        "TensorFlow gives up a piece of work that it does not need, and says itself that it is no error.",
    ),
    _noise(  # TensorFlow's graph optimizers, by their names
        tuple(f"{name} failed: " for name in _OPTIMIZERS),
        rf"^(?:{'|'.join(map(re.escape, _OPTIMIZERS))}) failed: (?:[A-Z_]{{4,}}|[A-Z][a-z]+(?: [a-z]+)*): ",
        "An optimisation of the graph did not fit this model, and TensorFlow keeps the graph as it was.",
    ),
    _noise(
        ("sharding policy will apply data",),
        r"AUTO sharding policy will apply DATA sharding policy",
        "The data set is not made of files, so every worker reads all of it and keeps its own part.",
    ),
    _noise(
        ("libibverbs",),
        r"NCCL INFO\b[^\n]{0,40}\b[Ff]ailed to open libibverbs\.so",
        "The machine has no library for InfiniBand; NCCL exchanges data by other ways.",
    ),
    _noise(
        ("end of sequence",),
        r"(?:OUT_OF_RANGE|Out of range|OutOfRange\w*):? End of sequence",
        "The data set came to its end; that is how an epoch ends.",
    ),
    _noise(
        ("not a failure", "not necessarily a failure"),
        r"this is not a(?: necessarily a)? failure|not necessarily a failure",
        "The allocator tried something that would have been faster and went on without; more memory would help speed.",
    ),
    _noise(
        ("registers are spilled",),
        r"Registers are spilled to local memory",
        "A kernel that was tried needs many registers; the autotuner measures whether another one is faster.",
    ),
    _noise(
        ("older than the ptxas",),
        r"driver's CUDA version is \S+,? which is older than the ptxas",
        "Compilation is a little slower with a driver older than the compiler; results are the same.",
    ),
    _noise(
        ("delay kernel",),
        r"[Ss]kipping the delay kernel|[Dd]elay kernel timed out",
        "The autotuner measures a little less exactly.",
    ),
    _noise(
        ("autograph could not",),
        r"AutoGraph could not (?:be transformed|transform)",
        "The function runs as plain Python while the graph is traced, which mostly is what is wanted.",
    ),
    _noise(
        ("unable to initialize backend",),
        r"^(?!.*Error: )Unable to initialize backend '(?:rocm|tpu|tpu_driver|plugin|metal|interpreter)'",
        "JAX tries every kind of accelerator that it knows; only what it raises is a failure.",
    ),
    _noise(
        ("no plugin found", "libnccl-net"),
        r"NET/Plugin ?: (?:No plugin found|Could not find|dlerror=libnccl-net)",
        "NCCL's network plug-ins are optional.",
    ),
    _noise(
        ("client socket has failed",),
        r"client socket has failed to connect.{0,160}(?:errno: 9[79]|error: 10049)",
        "An address of the wrong family (IPv6, mostly) was tried first; another is tried next.",
    ),
    _noise(
        ("gradient overflow", "loss scaler"),
        r"(?i:gradient overflow\. +skipping step|loss scaler .{0,12}reducing loss scale)",
        "Mixed precision looks for a scale that fits 16 bits; a skipped step now and then is how it does that.",
    ),
    _noise(
        ("isenoughworkspace",),
        r"MIOpen\(HIP\): Warning \[IsEnoughWorkspace\]",
        "MIOpen takes another way to compute a convolution; results are the same.",
    ),
    # -- processes --
    _noise(
        ("fork",),
        r"skipping fork\(\) handlers|fork_posix\.cc|os\.fork\(\) (?:was called|is incompatible)"
        r"|FD from fork parent still in poll list",
        "A worker process was started; nothing failed by it.",
    ),
    # -- notices to programmers --
    _noise(
        ("futurewarning", "deprecationwarning"),
        r"\b(?:Future|(?:Pending)?Deprecation)Warning\b",
        "A notice to the program's authors about a future release.",
    ),
    _noise(
        ("is deprecated and will be removed", "deprecated and will be"),
        r"is deprecated and will be removed",
        "A notice to the program's authors about a future release.",
    ),
    _noise(("known incorrect srgb",), r"iCCP: known incorrect sRGB profile", "An image was written by a sloppy program."),
    # -- the driver --
    _noise(
        ("taints kernel", "tainting kernel"),
        r"loading out-of-tree module taints kernel|module verification failed|tainting kernel",
        "The kernel notes that a driver came from elsewhere; it is loaded all the same.",
    ),
    _noise(("idle",), r"^(?:GPU |Gpu)?Idle *: Active", "The clocks are low because the GPU has nothing to do."),
)

# Failures that training went on after, and what to make of them then.
_RESOLVED = {
    Kind.KERNELS_JIT_COMPILED: "The driver compiled the kernels, and training went on.",
    Kind.PTXAS_MISSING: "The driver compiled in place of ptxas, and training went on.",
    Kind.LIBDEVICE_MISSING: "Training went on without it.",
    Kind.CUINIT_FAILED: "Training went on, on the CPU: nothing is wrong if the machine has no GPU.",
    Kind.CUDA_DRIVERS_NOT_FOUND: "Training went on, on the CPU: nothing is wrong if the machine has no GPU.",
}


def resolved_by_training(events: Iterable[Event]) -> list[Event]:
    """The failures among these events after which training went on, as harmless events."""
    known = list(events)
    last = max((event.line for event in known if event.kind == Kind.TRAINING_PROGRESS), default=0)
    return [
        Event(kind=KIND, line=event.line, text=event.text, fields={"reason": _RESOLVED[event.kind]})
        for event in known
        if event.line < last and event.kind in _RESOLVED
    ]
