"""What of a log is cuda-environment-malformed."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import starts
from gpucheck.rules.gpu_not_detected.cuda_environment_malformed import _INVALID_DEVICE, _ORDERS


def in_log(log: Log) -> Finding | None:
    """cuInit itself fails with it only for a malformed variable: no device was asked for yet."""
    told = [event for event in starts(log, str(_INVALID_DEVICE)) if event.kind == "cuinit-failed"]
    if not told:
        return None
    return Finding(
        summary="CUDA does not start because a variable has a value that it rejects (error 101), most likely CUDA_DEVICE_ORDER,"
        f" which takes {' and '.join(_ORDERS)} only.",
        evidence=cite(*told),
        fix=(
            Fix(text="See what is set", command="env | grep -E '^(CUDA|NVIDIA)_'"),
            Fix(text="Leave the order to CUDA", command="unset CUDA_DEVICE_ORDER"),
        ),
    )
