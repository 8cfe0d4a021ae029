"""What TensorFlow's allocator (BFC) prints of its chunks and limits: only after an allocation that failed for good."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern

KIND = Kind.ALLOCATOR_DUMP


def _named(match: "re.Match[str]") -> dict[str, str] | None:
    """allocator and device, where the line names it; 'gpu_host_bfc' hands out the host's memory, pinned for copies."""
    name = match["name"].upper()
    if device := re.match(r"GPU_\d+(?=_BFC$)", name):
        return {"allocator": "gpu", "device": device[0].replace("_", ":")}
    return {"allocator": "cpu"} if "HOST" in name or "CPU" in name else {}


PATTERNS = (
    Pattern(KIND, ("bfcallocator dump",), r"\bBFCAllocator dump for (?P<name>\w+)", _named),
    Pattern(
        KIND,
        ("sum total of in-use chunks", "memory_limit_:"),
        r"\bSum Total of in-use chunks: [\d.]+|\bmemory_limit_: \d+ available bytes: \d+",
    ),
    # its statistics, and the row of a hundred characters that pictures what is taken; others print rows of asterisks, too
    Pattern(KIND, ("bfc_allocator.cc:",), r"^Stats: +Limit: +\d+ +InUse: +\d+|^(?=[*_x]*\*)[*_x]{60,}$", continuation_lines=3),
)
