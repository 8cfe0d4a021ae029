"""Kernels that do not fit the GPU: images and PTX that it rejects, compute capabilities without any, and which GPU it is."""

import re

from gpucheck.core.compat import results
from gpucheck.core.logs.reading.patterns import named


def _kernel(match: "re.Match[str]") -> dict[str, str] | None:
    if re.search(r"(?i)\bHIP (?:runtime )?error\b", match.string):
        return None  # AMD's
    result = results.cuda(match["name"]) if match["name"] else None
    fields = named(match) or {}
    if result is not None:
        fields |= {"name": result.name, "code": result.code}
    return fields


def _one_gpu(match: "re.Match[str]") -> dict[str, str] | None:
    """Several GPUs in one line tell as little as none."""
    names = {gpu_match["gpu"].lower() for gpu_match in match.re.finditer(match.string, 0, match.endpos)}
    return named(match) if len(names - {"blackwell"}) < 2 else {"gpu": "several"}


def _without_code(match: "re.Match[str]") -> dict[str, str] | None:
    """capability as '8.6' or 'sm_86', and the GPU's name where it stands before it."""
    if "compatible with sm_" in match.string:  # of one code with another
        return None
    fields = named(match) or {}
    if fields["capability"].isdecimal():
        fields["capability"] = f"{fields['capability'][:-1]}.{fields['capability'][-1]}"
    fields |= {"code": "209", "name": "CUDA_ERROR_NO_BINARY_FOR_GPU"}
    return fields if "is not compatible" in match[0] else {**fields, "worded": "yes"}  # the rest is nobody's own message


def _arch(match: "re.Match[str]") -> dict[str, str] | None:
    number = int(match["arch"])
    return {"capability": f"{number // 100}.{number // 10 % 10}", "code": "209", "name": "CUDA_ERROR_NO_BINARY_FOR_GPU"}
