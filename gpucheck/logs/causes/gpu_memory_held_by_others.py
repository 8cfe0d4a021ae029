"""What of a log is gpu-memory-held-by-others."""

import re

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import cite, told
from gpucheck.rules._words import gib

_TOO_LITTLE_MB = 256  # no GPU that TensorFlow runs on has less, so something has the rest


_LARGE_MB = 1024  # a process with less is a desktop


def in_log(log: Log) -> Finding | None:
    """A GPU that was full before the program came: so much as a context found no room, or others are named with their share."""
    failed = [event for event in told(log, "out-of-memory") if event.fields.get("allocator") != "cpu"]
    failed += told(log, "cublas-failed", "cudnn-failed", "gpu-memory-full")
    taken = [event for event in log.events if _taken(event) or (failed and _large(event))]
    if not taken:
        return None
    pids = list(dict.fromkeys(event.fields["pid"] for event in taken if event.fields.get("pid")))
    look = (
        Fix(
            text="See whose process it is, and end it if it is yours (a notebook: shut down its kernel)",
            command=f"ps -o pid,user,etime,args -p {','.join(pids)}",
        )
        if pids
        else Fix(
            text="See which processes hold it, and end those that are yours (a notebook: shut down its kernel)",
            command="nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
        )
    )
    held = next((event.fields for event in taken if event.kind == "gpu-memory-holders"), None)
    return Finding(
        summary=(
            f"Other processes hold {gib(int(held['others']))} of the GPU's {gib(int(held['total']))}."
            if held
            else "Most of the GPU's memory was taken before this program asked for it."
        ),
        evidence=cite(*taken, *failed[:1]),
        fix=(
            look,
            Fix(text="Or train on a GPU that is free", command="nvidia-smi --query-gpu=index,uuid,memory.free --format=csv"),
            Fix(
                text="Where TensorFlow processes share a GPU on purpose, let each of them take only what it needs",
                command="export TF_FORCE_GPU_ALLOW_GROWTH=true",
            ),
        ),
        severity=Severity.ERROR if failed else Severity.WARNING,
    )


def _taken(event: Event) -> bool:
    fields = event.fields
    if event.kind == "gpu-memory":
        return 4 * _bytes(fields["free"]) < _bytes(fields["total"])
    if event.kind == "gpu-memory-holders":
        return 4 * int(fields["others"]) > int(fields["total"])
    if event.kind == "gpu-created":
        return fields.get("memory_mb", "").isdecimal() and 0 < int(fields["memory_mb"]) < _TOO_LITTLE_MB
    return event.kind == "gpu-memory-full"


def _large(event: Event) -> bool:
    """A computing process in the table of nvidia-smi, which on some boards has no line for the memory as a whole."""
    fields = event.fields
    return event.kind == "gpu-process" and "C" in fields.get("type", "") and int(fields.get("memory_mb", "0")) >= _LARGE_MB


def _bytes(size: str) -> float:
    """The bytes of '10.92GiB'."""
    number, unit = re.findall(r"[\d.]+|[KMGT](?=i?B)", size)
    return float(number) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}[unit]
