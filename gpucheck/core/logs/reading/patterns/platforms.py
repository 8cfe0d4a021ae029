"""The system underneath: Windows, WSL, macOS and AMD's ROCm."""

import re

from gpucheck.core.logs.reading.patterns import named


def _rocm(match: "re.Match[str]") -> dict[str, str] | None:
    """JAX and TensorFlow mention ROCm on every machine; only its own calls and libraries mean that it is in use."""
    unfit = match.groupdict().get("unsupported")
    if not unfit and ("Unable to initialize backend" in match.string or re.search(r"\(device: [1-9]", match.string)):
        return None  # the CPU's own graphics are passed over beside the GPU that is used
    return named(match)
