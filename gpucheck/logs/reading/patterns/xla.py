"""XLA and its tools: ptxas, libdevice, flags, and the backends JAX tried."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed, named


def _backend(match: "re.Match[str]") -> dict[str, str] | None:
    """JAX tries every backend it knows; only what it raises is a failure."""
    fields = named(match) or {}
    fatal = re.search(r"Error: *$", match.string[: match.start()]) is not None
    return {**fields, "fatal": "yes" if fatal else "no"}


PATTERNS = (
    Pattern(
        Kind.XLA_FLAG_UNKNOWN,
        ("xla_flags",),
        r"[Uu]nknown (?:command[- ]line )?flags?(?: found)? in (?:\w*_)?XLA_FLAGS\b(?:: *(?P<flag>--?[\w=/.,-]+))?",
        continuation_lines=3,
    ),
    Pattern(
        Kind.XLA_FLAG_UNKNOWN,
        ("interpret value",),
        r"Couldn't interpret value (?P<value>\S*) for flag (?P<flag>-{0,2}(?:tf_)?xla_\w+)",
    ),
    # -- libdevice --
    Pattern(
        Kind.LIBDEVICE_MISSING,
        ("libdevice",),
        r"libdevice(?:\.\d+\.bc)?['`]? not found(?: at (?P<path>\S+))?",
        fixed(fatal="yes"),
    ),
    # TensorFlow's own kernels are compiled at their first use, and that is all they say
    Pattern(Kind.LIBDEVICE_MISSING, ("jit compilation failed",), r"(?<!PTX )\bJIT compilation failed\.", fixed(fatal="yes")),
    Pattern(
        Kind.LIBDEVICE_MISSING,
        ("libdevice",),
        r"libdevice\b[^\n]{0,60}?(?:required|needed)\b[^\n]{0,60}?not found(?: (?:at|in) (?P<path>\S+))?"
        r"|(?<!\S)(?P<file>\S{0,160}?libdevice\.\d{1,3}\.bc)\b[^\n]{0,40}(?i:could not open|no such file|cannot open)",
        fixed(fatal="yes"),
    ),
    Pattern(
        Kind.LIBDEVICE_MISSING,
        ("libdevice",),
        r"(?i:can't|could not|can ?not|couldn't|unable to|failed to) (?:find|open|locate|load|read) (?:\S+ )?"
        r"(?P<path>\S*libdevice\S*)(?: directory (?P<folder>\S+))?",
        fixed(fatal="no"),
    ),
    Pattern(Kind.LIBDEVICE_MISSING, ("searched for cuda",), r"Searched for CUDA in the following directories", fixed(fatal="no")),
    # -- ptxas --
    Pattern(
        Kind.PTXAS_TOO_OLD,
        ("ptxas does not support", "is not defined for option", "unsupported .target"),
        r"ptxas does not support CC (?P<target>[\d.]+\w?)|Value '(?P<arch>(?:sm|compute)_\w+)' is not defined for option"
        r"|Unsupported \.target '(?P<ptx>sm_\w+)'",
        lambda match: {"target": match["target"] or match["arch"] or match["ptx"]},
    ),
    Pattern(
        Kind.PTXAS_TOO_OLD,
        ("does not support target", "not a recognized processor", "for option 'gpu-name'", "unsupported gpu architecture"),
        r"does not support target '(?P<target>sm_\w+)'|'(?P<second>sm_\w+)' is not a recognized processor"
        r"|[Uu]nsupported gpu architecture '(?P<third>(?:sm|compute)_\w+)'",
        lambda match: {"target": target} if (target := match["target"] or match["second"] or match["third"]) else None,
    ),
    # of a GPU newer than the compiler that is built into XLA
    Pattern(
        Kind.PTXAS_TOO_OLD,
        ("unknown compute capability",),
        r"Unknown compute capability \(?(?P<target>\d+[.,] ?\d)\)?[^\n]{0,20}[Dd]efaulting to",
        lambda match: {"target": match["target"].replace(",", ".").replace(" ", "")},
    ),
    Pattern(
        Kind.PTXAS_TOO_OLD,
        ("using ptxas", "ptxas at", "ptxas version"),
        r"(?:using ptxas|ptxas at \S+ (?:with|has) version|ptxas version:?) (?P<version>[\d.]+\d),? (?:which|and) "
        r"(?:is older than|is too old|is in range)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.PTXAS_TOO_OLD,
        ("unsupported .version",),
        r"Unsupported \.version (?P<needed>[\d.]+\d); current version is '(?P<version>[\d.]+)'",
        continuation_lines=3,
    ),
    Pattern(
        Kind.PTXAS_MISSING,
        ("ptxas",),
        r"(?i:couldn't|could not|can't|cannot|unable to|failed to) (?:invoke|launch|find|locate|execute|run|get|start|spawn)\b"
        r"(?: [\w/'`\"]{1,40}){0,4}? ?\S{0,160}?\bptxas\b(?!.{0,40}not supported on Windows)",
        fixed(),
    ),
    Pattern(Kind.PTXAS_MISSING, ("ptxas",), r"ptxas['\"`:]* (?:command not found|not found|[Nn]o such file)", fixed()),
    Pattern(Kind.PTXAS_MISSING, ("ptx compilation provider",), r"No PTX compilation provider is available", fixed()),
    Pattern(Kind.PTXAS_FAILED, ("ptxas exited",), r"ptxas exited with non-zero error code (?P<code>-?\d+)", continuation_lines=1),
    Pattern(Kind.PTXAS_FAILED, ("ptxas fatal",), r"ptxas fatal *: (?P<message>(?!Value|Unsupported \.)[^\n]+)"),
    # -- compiling and running: evidence that it works --
    Pattern(Kind.XLA_COMPILED, ("compiled cluster using xla",), r"Compiled cluster using XLA", fixed()),
    Pattern(
        Kind.XLA_DEVICE,
        ("streamexecutor",),
        r"StreamExecutor (?:device \(\d+\)|\[\d+\]): (?P<name>[^,]+), Compute Capability (?P<capability>\d+\.\d+)",
    ),
    Pattern(Kind.AUTOTUNER_FAILED, ("autotuner could not find",), r"Autotuner could not find any supported configs", fixed()),
    # -- JAX --
    Pattern(
        Kind.BACKEND_UNAVAILABLE,
        ("unable to initialize backend",),
        r"Unable to initialize backend '(?P<backend>\w+)': (?P<message>[^\n]+)",
        _backend,
        continuation_lines=3,
    ),
    Pattern(
        Kind.CPU_FALLBACK,
        ("falling back to cpu", "fall back to cpu", "no gpu"),
        r"(?i:fall(?:ing)? ?back to (?:the )?CPU"
        r"|no GPUs? (?:was |were )?(?:detected|found|available)\W{1,3}(?:will be |will |so )?"
        r"(?:us|runn?)(?:ing|es?) (?:on )?(?:the )?CPU)\b",
        fixed(op="all"),
    ),
)
