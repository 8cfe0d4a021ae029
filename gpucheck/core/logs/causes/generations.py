"""Causes related to a GPU's generation: the GPU is too old or too new, so a program has no kernels for it."""

import re
from typing import NamedTuple

from gpucheck.core.compat import gpus as tables
from gpucheck.core.compat.gpus import FIRST_BLACKWELL
from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events, in_order, uses_gpu
from gpucheck.core.logs.events import Event
from gpucheck.core.model import Severity

Capability = tuple[int, int]

_INVALID_HANDLE = "400"
_OLDEST_KEPT = (8, 0)  # missing kernels for these and newer GPUs mean an old program; for older GPUs, a new one
_DROPPED = (7, 5)  # the minimum that CUDA 13 compiles for


class UnsupportedGpu(NamedTuple):
    """A GPU for which a program has no kernels."""

    old: bool  # older than all kernels; else newer
    events: list[Event]
    name: str | None
    capability: Capability | None
    lowest: str | None = None  # the minimum compute capability with kernels
    failed: bool = False  # a program failed because of it


def infer_unsupported_gpu(events: Events) -> UnsupportedGpu | None:
    """Infer whether a GPU is too old or too new, from messages; if they only report a missing kernel, from its generation."""
    ignored = events.of("gpu-ignored", reason="capability")
    if ignored:
        fields, failed = ignored[0].fields, not any(uses_gpu(event) for event in events.log.events)
        capability = capability_in(fields.get("capability"))
        return UnsupportedGpu(True, ignored, fields.get("name"), capability, fields.get("minimum"), failed)
    bare = events.unresolved("kernel-image-missing")
    rejected = events.unresolved("ptx-unsupported", code="218")  # invalid PTX
    outdated = events.unresolved("ptxas-too-old", target=".+", instead="")
    compiled = events.unresolved("kernels-jit-compiled")
    capability, name = _gpu(events)
    # The driver compiled a TensorFlow kernel to nothing, and TensorFlow launched it: seen on Blackwell only.
    for event in events.unresolved("cuda-error", code=_INVALID_HANDLE):
        rejected += [event] if (capability >= FIRST_BLACKWELL if capability else "cuLaunchKernel(" in event.text) else []
    worded = all("worded" in event.fields for event in bare)  # by a person
    lines = in_order(*bare, *rejected, *outdated)
    if not lines:
        return None
    supported = [capability_in(entry) for event in bare for entry in event.fields.get("supported", "").split()]
    floor = min((entry for entry in supported if entry), default=None)
    if capability is None:
        by_pytorch = any(re.search(r"(?i)torch|CUDA error:", event.text) for event in bare)
        old = not (rejected or outdated or by_pytorch)
    elif floor is not None:
        old = capability < floor
    else:  # a ptxas without support for it is older than the GPU, unless it is from CUDA 13
        old = capability < (_DROPPED if outdated and worded else _OLDEST_KEPT)
    failed = bool(rejected) or not worded or bool(events.without_later_gpu_use("traceback", "killed", "autotuner-failed"))
    lowest = f"{floor[0]}.{floor[1]}" if floor and old else None
    return UnsupportedGpu(old, in_order(*lines, *compiled), name, capability, lowest, failed)


def capability_in(text: str | None) -> Capability | None:
    """Return (12, 0) for '12.0', '12.0a', 'sm_120' and 'compute_120'."""
    match = re.search(r"(\d+)\.(\d)|_(\d+)(\d)", text or "")
    return (int(match[1] or match[3]), int(match[2] or match[4])) if match else None


def _gpu(events: Events) -> tuple[Capability | None, str | None]:
    """Return compute capability and name of the log's GPU, as printed or derived from the name."""
    capability, name = None, None
    for event in events.log.events:
        fields = event.fields
        if event.kind == "gpu-named":
            continue
        if event.kind == "gpu-found" and fields.get("major"):
            capability = capability or (int(fields["major"]), int(fields.get("minor", 0)))
        if event.kind in ("gpu-created", "gpu-found", "xla-device"):
            name = name or fields.get("name")
        name = name or fields.get("gpu")
        capability = capability or capability_in(fields.get("capability") or fields.get("target"))
    if capability is None and name is not None:
        return tables.named(name), name
    mentioned = events.of("gpu-named")
    if capability is None and mentioned:
        capabilities = {capability_in(event.fields.get("capability")) or tables.named(event.fields["gpu"]) for event in mentioned}
        if len(capabilities) == 1 and None not in capabilities:  # ambiguous: the text names several GPUs
            return capabilities.pop(), mentioned[0].fields["gpu"]
    return capability, name


def gpu_too_old(events: Events) -> Cause | None:
    """Detect a GPU that TensorFlow or PyTorch reports as ignored, or an old GPU for which a kernel is missing."""
    gpu = events.infer(infer_unsupported_gpu)
    if gpu is None or not gpu.old:
        return None
    why = f"the minimum this build supports is {gpu.lowest}" if gpu.lowest else "it has no kernels for this GPU"
    return _cause(gpu, f"is too old for this program: {why}")


def gpu_too_new(events: Events) -> Cause | None:
    """Detect a GPU newer than the program: a kernel is missing or PTX is rejected, and training did not continue."""
    gpu = events.infer(infer_unsupported_gpu)
    if gpu is None or gpu.old:
        return None
    why = "it has no kernels for this GPU, and kernels compiled from its PTX are rejected"
    return _cause(gpu, f"is too new for this program: {why}")


def _cause(gpu: UnsupportedGpu, what: str) -> Cause:
    capability = ".".join(map(str, gpu.capability or ()))
    has = f" (compute capability {capability})" if capability else ""
    left = gpu.events[0].kind == "gpu-ignored" and not gpu.failed  # another GPU trains
    repair_values = {"gpu": gpu.name or "", "capability": capability, "left": "yes" if left else ""}
    summary = f"{gpu.name or 'This GPU'}{has} {what}."
    return Cause(summary, gpu.events, None if gpu.failed else Severity.WARNING, repair_values=repair_values)
