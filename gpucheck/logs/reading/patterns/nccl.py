"""NCCL and peer access between GPUs."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed, named

# NCCL warns of much that it then does without.
_FAULT = re.compile(
    r"error|fail(?:ed|ure|s)\b|timed? ?out|refused|unreachable|no route|aborted|mismatch|corrupt|exhausted|no space left|invalid"
    r"|\bvendor err\b|incompatible|unable to|truncated|closed by remote|no (?:socket )?(?:interface|device) found",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(
    r"NET/Plugin|TUNER/Plugin|PROFILER/Plugin|No plugin found|hwloc|libibverbs|non-fatal|\bpciPath\b|/sys/devices/virtual"
    r"|NET/OFI.*(?:not find|not found|no provider)",
    re.IGNORECASE,
)


def _fault(match: "re.Match[str]") -> dict[str, str] | None:
    message = match["message"]
    return named(match) if _FAULT.search(message) and not _OPTIONAL.search(message) else None


def _noise(match: "re.Match[str]") -> dict[str, str] | None:
    return None if _fault(match) else named(match)


_WARN = r"NCCL WARN:? *(?P<message>[^\n]+)"

PATTERNS = (
    Pattern(
        Kind.WORKER_VERSION_SKEW,
        ("nccl",),
        r"NCCL WARN.{0,60}?(?P<message>(?i:mismatch\w*.{0,20} NCCL version|NCCL version mismatch)[^\n]*)",
        continuation_lines=3,
    ),
    Pattern(Kind.NCCL_FAILED, ("nccl warn",), _WARN, _fault, continuation_lines=2),
    Pattern(Kind.NCCL_WARNING, ("nccl warn",), _WARN, _noise),
    # what the communicator says when it, or its network, has come up in spite of what it warned of
    Pattern(
        Kind.NCCL_READY,
        ("init complete", "connected all", "using network"),
        r"NCCL INFO [^\n]*?(?:Init COMPLETE|Connected all (?:rings|trees)|Using network \w+)",
        fixed(),
    ),
    # the network's completion queue; 0 is success
    Pattern(
        Kind.NCCL_FAILED,
        ("got completion",),
        r"NET/IB ?: (?P<message>Got completion\b[^\n]{0,160}?with (?:error|status)[ =]?"
        r"(?:IBV_WC_(?!SUCCESS)\w+|[1-9])[^\n]*)",
        continuation_lines=2,
    ),
    # InfiniBand's and RoCE's connections; it tries again a few times
    Pattern(
        Kind.NCCL_FAILED,
        ("ibv_modify_qp failed",),
        r"(?P<message>ibv_modify_qp failed with (?:error )?\S+(?![^\n]*retrying)[^\n]*)",
    ),
    # a trace of results (ncclResult_t) up to the outermost call; 7 is "in progress"
    Pattern(
        Kind.NCCL_FAILED, ("nccl info",), r"NCCL INFO (?P<message>(?:\S*/)?(?:init|group|bootstrap)\.cc:\d+ -> (?P<code>[1-6])\b)"
    ),
    Pattern(
        Kind.NCCL_FAILED,
        ("ncclunhandledcudaerror", "ncclsystemerror", "ncclinternalerror", "ncclinvalid", "ncclremoteerror"),
        r"(?P<code>nccl(?:UnhandledCuda|System|Internal|Remote)Error|ncclInvalid(?:Usage|Argument))(?:: (?P<message>[^\n]+))?",
    ),
    Pattern(
        Kind.NCCL_FAILED,
        (
            "unhandled system error",
            "unhandled cuda error",
            "nccl error",
            "nccl communicator was aborted",
            "nccl operation",
            "a nccl communicator",
            "nccl watchdog",
            "nccl initialization failed",
        ),
        r"(?P<message>NCCL initialization failed|(?<=Error: )NCCL error$"
        r"|NCCL.{0,80}?(?:unhandled (?:system|cuda) error|communicator was aborted|error in:?[^\n]+|error: [^\n]+"
        r"|operation \S+ failed: [^\n]+|operations have failed or timed out|watchdog thread terminated with exception)"
        r"|unhandled (?:system|cuda) error[^\n]*"
        r"|[Ff]ailed to create (?:a )?NCCL communicator[^\n]*)",
    ),
    # PyTorch's two watches over a collective: one of its time, one of whoever watches the time
    Pattern(
        Kind.NCCL_FAILED,
        ("watchdog", "heartbeat monitor", "nccl timeout"),
        r"(?P<message>Watchdog caught collective operation timeout[^\n]*|\bNCCL (?:watchdog )?timeout\b[^\n]*"
        r"|Heartbeat monitor timed out![^\n]*|watchdog got stuck for \d+[^\n]*|detected no heartbeat of its watchdog)",
        fixed(code="timeout"),
    ),
    # the kernel's word for a crash inside it
    Pattern(Kind.NCCL_FAILED, ("segfault at",), r"(?P<message>segfault at \S+ [^\n]{0,120}? in libnccl\.so[\w.]*)"),
    # TensorFlow for Windows has no NCCL
    Pattern(Kind.NCCL_FAILED, ("ncclallreduce",), r"(?P<message>No OpKernel was registered to support Op '?NcclAllReduce)"),
    # two processes were given the same GPU
    Pattern(
        Kind.GPU_SHARED_BY_RANKS,
        ("duplicate gpu detected",),
        r"Duplicate GPU detected *:? *rank (?P<rank>\d+) and rank (?P<other>\d+)",
        continuation_lines=1,
    ),
    Pattern(
        Kind.PEER_ACCESS_UNAVAILABLE,
        ("peer access is not supported", "peer_access_unsupported", "peeraccessunsupported", "enable peer access from"),
        r"peer access is not supported between|CUDA_ERROR_PEER_ACCESS_UNSUPPORTED|cudaErrorPeerAccessUnsupported"
        r"|(?:failed to|cannot|could not|unable to) enable peer access from",
        fixed(),
    ),
    # a way that is there and not used, of which NCCL only informs
    Pattern(
        Kind.PEER_ACCESS_DISABLED,
        ("p2p is disabled", "enable p2p between"),
        r"P2P is disabled between (?:NVLINK )?connected GPUs|Could not enable P2P between dev",
        fixed(),
    ),
    # nvidia-smi topo -p2p: not supported by the chipset, the GPU, the topology, or at all
    Pattern(
        Kind.PEER_ACCESS_UNAVAILABLE,
        (
            *(f" {kind}" for kind in ("cns", "gns", "tns", "ns")),
            *(f"{kind}{tab}" for kind in ("cns", "gns", "tns") for tab in ("\t", "\\t")),
        ),
        r"^GPU\d+(?=\s.*\b(?:[CGT]?NS)\b)(?:\s+(?:X|OK|[CGT]?NS|U))+\s*$",
        fixed(),
    ),
    Pattern(
        Kind.PEER_ACCESS_UNAVAILABLE,
        ("topo -p2p", "can_device_access_peer"),
        r"topo -p2p [rwnap]+\b[^\n]{0,12}?[=:][ *`]*[CGT]NS\b|can_device_access_peer(?:\([^)\n]*\))?[` ]*(?:[=:]|->)+ ?False\b",
        fixed(),
    ),
    # 217 is that result's number
    Pattern(Kind.PEER_ACCESS_UNAVAILABLE, ("cuda failure 217",), r"Cuda failure 217\b", fixed()),
)
