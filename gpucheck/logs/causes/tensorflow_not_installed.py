"""What of a log is tensorflow-not-installed."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._backend import bypassed
from gpucheck.rules._log import cite, stated, told, weight


def in_log(log: Log) -> Finding | None:
    """Python's word for it, about the package itself and not about a part of it."""
    missing = [event for event in told(log, "module-missing") if event.fields["module"] == "tensorflow"]
    missing = missing or stated(log, "tensorflow-not-installed")
    if not missing or bypassed(log):
        return None  # keras-backend-mismatch
    return Finding(
        summary="TensorFlow is not installed for the Python that ran this.",
        evidence=cite(*missing),
        fix=(
            Fix(text="See which Python that is", command="python -c 'import sys; print(sys.executable, sys.version)'"),
            Fix(
                text="Install TensorFlow for it, with its CUDA libraries (Linux with an NVIDIA GPU)",
                command='python -m pip install "tensorflow[and-cuda]==2.20.*"',
            ),
            Fix(text="Or for the CPU", command="python -m pip install tensorflow"),
        ),
        severity=weight(missing),
    )
