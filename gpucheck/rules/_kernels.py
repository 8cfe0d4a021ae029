"""A GPU that a pasted log says there are no kernels for: which one, and whether it is too old for the program or too new."""

import re
from typing import NamedTuple

from gpucheck.compat import gpus as tables
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import stated
from gpucheck.rules._start import unserved
from gpucheck.rules._training import standing

BLACKWELL = (10, 0)
_INVALID_PTX = "218"
_OLDEST_KEPT = (8, 0)  # who finds no kernels on these and newer ones has an old program; below, a new one
_DROPPED = (7, 5)  # what CUDA 13 compiles for at least
_FAILED = ("ptx-unsupported", "ptxas-too-old", "kernel-image-missing", "traceback", "killed", "ptxas-failed")


class Unfit(NamedTuple):
    """A GPU that a program has no kernels for."""

    old: bool  # older than all kernels; else newer
    events: list[Event]
    name: str | None
    capability: tuple[int, int] | None
    lowest: str | None  # the lowest compute capability that there are kernels for
    passed_over: bool  # another GPU is in use
    failed: bool


def unfit(log: Log) -> Unfit | None:
    """What the program says, and where it only says that a kernel is missing, what is known of the GPU."""
    events = log.events
    ignored = [event for event in events if event.kind == "gpu-ignored" and event.fields.get("reason") == "capability"]
    if ignored:
        fields = ignored[0].fields
        return Unfit(
            True, ignored, fields.get("name"), parsed(fields.get("capability")), fields.get("minimum"), _in_use(log), True
        )
    bare = [event for _, event in standing(log, "kernel-image-missing")]
    rejected = [event for _, event in standing(log, "ptx-unsupported") if event.fields.get("code") == _INVALID_PTX]
    outdated = [event for _, event in standing(log, "ptxas-too-old") if event.fields.get("target")]
    foreign = [event for _, event in standing(log, "kernels-jit-compiled")]
    told = [*bare, *rejected, *outdated]
    capability, name = _gpu(log)
    said = [] if told else stated(log, "gpu-too-old", "gpu-too-new", "gpu-unfit")
    sure = [event for event in said if event.fields["cause"] != "gpu-unfit"]
    if sure:
        return Unfit(sure[0].fields["cause"] == "gpu-too-old", said, name, capability, None, False, False)
    if capability is not None and not told:
        told = said
    if not told:
        new = [event for event in foreign if (parsed(event.fields.get("capability")) or (0, 0)) >= BLACKWELL]
        wrong = [event for _, event in standing(log, *_FAILED) if new and event.line > new[0].line]
        return Unfit(False, [*new, *wrong[:1]], name, capability, None, False, True) if wrong else None
    supported = [parsed(entry) for event in bare for entry in event.fields.get("supported", "").split()]
    floor = min((entry for entry in supported if entry), default=None)
    if capability is None:
        old = not (rejected or outdated or any(_by_pytorch(event) for event in bare))
    elif floor is not None:
        old = capability < floor
    elif outdated and all("worded" in event.fields for event in bare):
        old = capability < _DROPPED  # a ptxas that does not know it is older than the GPU, unless it is one of CUDA 13
    else:
        old = capability < _OLDEST_KEPT
    seen = bool(rejected) or any("worded" not in event.fields for event in bare)
    told = sorted((*told, *foreign), key=lambda event: event.line)
    lowest = f"{floor[0]}.{floor[1]}" if floor and old else None
    return Unfit(old, told, name, capability, lowest, False, seen or _fatal(log))


def parsed(text: str | None) -> tuple[int, int] | None:
    """(12, 0) for '12.0', '12.0a', 'sm_120' and 'compute_120'."""
    match = re.search(r"(\d+)\.(\d)|_(\d+)(\d)", text or "")
    return (int(match[1] or match[3]), int(match[2] or match[4])) if match else None


def _gpu(log: Log) -> tuple[tuple[int, int] | None, str | None]:
    """Compute capability and name of the GPU that the log is about, by its own words or by its name."""
    capability, name = None, None
    named = [event for event in log.events if event.kind == "gpu-named"]
    for event in log.events:
        fields = event.fields
        if event.kind == "gpu-named":
            continue
        if event.kind == "gpu-found" and fields.get("major"):
            capability = capability or (int(fields["major"]), int(fields.get("minor", 0)))
        if event.kind in ("gpu-created", "gpu-found", "xla-device"):
            name = name or fields.get("name")
        name = name or fields.get("gpu")
        capability = capability or parsed(fields.get("capability") or fields.get("target"))
    if capability is None and name is not None:
        capability = tables.named(name)
    if capability is None and name is None:
        told = {parsed(event.fields.get("capability")) or tables.named(event.fields["gpu"]) for event in named}
        if len(told) == 1:  # a text that names several GPUs does not tell which one it is about
            capability = told.pop()
            name = named[0].fields["gpu"] if capability else None
    return capability, name


def _in_use(log: Log) -> bool:
    return any(event.kind in ("gpu-created", "xla-device") for event in log.events) or any(
        event.kind == "gpus-listed" and event.fields.get("count", "0") != "0" for event in log.events
    )


def _by_pytorch(event: Event) -> bool:
    return re.search(r"(?i)torch|CUDA error:", event.text) is not None


def _fatal(log: Log) -> bool:
    return bool(unserved(log, "traceback", "killed", "autotuner-failed"))
