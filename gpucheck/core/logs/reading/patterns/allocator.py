"""What TensorFlow's allocator (BFC) prints of its chunks and limits: only after an allocation that failed for good."""

import re


def _named(match: "re.Match[str]") -> dict[str, str] | None:
    """allocator and device, where the line names it; 'gpu_host_bfc' hands out the host's memory, pinned for copies."""
    name = match["name"].upper()
    if device := re.match(r"GPU_\d+(?=_BFC$)", name):
        return {"allocator": "gpu", "device": device[0].replace("_", ":")}
    return {"allocator": "cpu"} if "HOST" in name or "CPU" in name else {}
