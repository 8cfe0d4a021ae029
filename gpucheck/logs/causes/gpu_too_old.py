"""What of a log is gpu-too-old."""

from gpucheck.compat import tensorflow as releases
from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._kernels import unfit
from gpucheck.rules._log import cite
from gpucheck.rules.gpu_not_detected.gpu_too_old import _text


def in_log(log: Log) -> Finding | None:
    """TensorFlow's or PyTorch's word that they pass the GPU over, or a missing kernel on a GPU of an old generation."""
    found = unfit(log)
    if found is None or not found.old:
        return None
    name = found.name or "This GPU"
    has = f" (compute capability {_text(found.capability)})" if found.capability else ""
    lowest = f"the lowest that it has code for is {found.lowest}" if found.lowest else "it has no code for one so old"
    last = [
        known
        for known in releases.RELEASES.values()
        if found.capability and known.and_cuda and found.capability >= releases.lowest_capability(known)
    ]
    older = last[-1] if last else None
    return Finding(
        summary=f"{name}{has} is too old for this program: {lowest}.",
        evidence=cite(*found.events),
        fix=(
            Fix(
                text=f"TensorFlow {older.minor} is the last with code for it (for Python {older.python_min} to {older.python_max})",
                command=f'python -m pip install "tensorflow[and-cuda]=={older.latest_patch}"',
            )
            if older
            else Fix(text="Use an older release of the program, which still had code for this GPU"),
            Fix(text="Use a newer GPU, or build the program from source for this one"),
        ),
        severity=Severity.WARNING if found.passed_over or not found.failed else None,
    )
