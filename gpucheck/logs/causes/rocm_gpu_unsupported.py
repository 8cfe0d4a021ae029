"""What of a log is rocm-gpu-unsupported."""

import re

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules._log import told as still
from gpucheck.rules._start import unserved

_FAILED = r"(?i)fail|ignoring visible|error|cannot|denied|unable|not found|count\W{0,3}0"  # ROCm can be at work, and well


def in_log(log: Log) -> Finding | None:
    """ROCm's own calls fail, or AMD's is the only GPU on the bus of a machine where CUDA was asked for."""
    rocm = [event for event in still(log, "rocm") if "unsupported" in event.fields]  # whether or not it was listed as a GPU
    rocm += [
        event
        for event in unserved(log, "rocm")
        if event not in rocm and re.search(_FAILED, event.text) and "Memory" not in event.text
    ]
    amd = unserved(log, "amd-gpu")
    refused = unserved(log, "cuinit-failed", "driver-absent", "cuda-drivers-not-found", "nvml-failed")
    if amd and refused and not unserved(log, "gpu-on-bus"):
        rocm = [*rocm, *amd, *refused[:1]]
    elif not rocm:
        return None
    return Finding(
        summary="The GPU of this log is one of AMD's, which TensorFlow's CUDA package cannot use.",
        evidence=cite(*rocm),
        fix=(
            Fix(text="If ROCm supports this GPU, install ROCm and AMD's own tensorflow-rocm; otherwise use an NVIDIA GPU"),
            Fix(text="See what ROCm knows of it", command="rocminfo | grep -i gfx"),
        ),
    )
