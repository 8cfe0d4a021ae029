"""What of a log is cuda-stub-loaded."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, stated, weight
from gpucheck.rules._start import starts, unserved
from gpucheck.rules.gpu_not_detected.cuda_stub_loaded import _STUB_LIBRARY


def in_log(log: Log) -> Finding | None:
    """CUDA names the stub itself, or a tool that lists what is loaded."""
    told = starts(log, str(_STUB_LIBRARY)) or unserved(log, "stub-loaded") or stated(log, "cuda-stub-loaded")
    if not told:
        return None
    return Finding(
        summary="CUDA does not start because a stub for linking was loaded instead of the driver's libcuda.so.1 (error 34).",
        evidence=cite(*told),
        fix=(
            Fix(text="See which file is found first", command="echo $LD_LIBRARY_PATH; ldconfig -p | grep libcuda.so.1"),
            Fix(
                text="Take the folder that ends in /stubs out of LD_LIBRARY_PATH, or out of /etc/ld.so.conf.d and then: sudo ldconfig",
                command="grep -rn stubs /etc/ld.so.conf /etc/ld.so.conf.d/ ~/.bashrc",
            ),
            Fix(text="TensorFlow's GPU image: start it with --gpus all; it falls back to the stub only without a driver"),
        ),
        severity=weight(told),
    )
