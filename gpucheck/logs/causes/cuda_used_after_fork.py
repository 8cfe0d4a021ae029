"""What of a log is cuda-used-after-fork."""

from gpucheck.model import Finding
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import starts, unserved
from gpucheck.rules._words import short
from gpucheck.rules.gpu_not_detected.cuda_used_after_fork import FIX, NOT_INITIALIZED


def in_log(log: Log) -> Finding | None:
    """PyTorch's words, or CUDA not initialised where it had been: in a forked child, cuInit itself says so, too."""
    told = [*unserved(log, "cuda-used-after-fork"), *starts(log, NOT_INITIALIZED)]
    if not told:
        return None
    told = sorted({event.line: event for event in told}.values(), key=lambda event: event.line)
    return Finding(
        summary=f"CUDA was started before a fork, and is used after it: {short(told[0].text)}.",
        evidence=cite(*told),
        fix=FIX,
    )
