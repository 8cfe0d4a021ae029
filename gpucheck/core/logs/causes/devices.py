"""Causes of missing GPUs: not installed, not passed to the container, or hidden."""

import re

from gpucheck.core.compat.cuda import CUDA_ERROR_INVALID_DEVICE, CUDA_ERROR_OPERATING_SYSTEM, HIDES_ALL
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.compat.nvml import NOT_PERMITTED
from gpucheck.core.logs.causes.cause import Cause, sentence
from gpucheck.core.logs.causes.events import Events, in_order, uses_gpu, values
from gpucheck.core.logs.causes.startup import (
    NO_DEVICE,
    NO_LIBRARY,
    NVML_UNKNOWN,
    RAY_WORKER,
    UNKNOWN,
    continued_after,
    infer_startup_failure,
    taken_from_container,
)
from gpucheck.core.logs.events import Event
from gpucheck.core.logs.xid import reported
from gpucheck.core.model import Severity
from gpucheck.core.model.wording import listing, short

_NOT_GIVEN = {
    "hook": "the NVIDIA Container Toolkit failed to set it up",
    "runtime": "this container runtime has no GPU support configured",
    "no-driver": "the container toolkit did not find the host's driver",
    "slow-driver": "the host's driver did not respond to the container toolkit in time",
    "old-toolkit": "the container toolkit does not support this host's control groups",
    "driver-in-image": "its image already contains driver files, where the toolkit mounts the host's",
    "cgroups": "the container toolkit is not allowed to change its control group",
    "ldconfig": "the container toolkit could not run ldconfig for it",
    "cdi": "no valid description (CDI) of the host's GPUs was found",
    "plugin": "NVIDIA's device plugin found no driver in its own container",
    "not-passed": "it was started without one",
    "scheduler": "the cluster has no GPU available",
    "unhealthy": "NVIDIA's device plugin reports this node's GPUs as unhealthy",
    "taint": "its pod does not tolerate the taint of the nodes with GPUs",
    "enroot": "enroot could not set it up in the container's root file system",
    "no-cli": "the node has no nvidia-container-cli, which enroot needs to pass it in",
    "requirement": "the container toolkit can't read the image's requirements",
    "no-files": "its host has no NVIDIA driver",
}
# Messages of a job that did not get its GPU.
_MISSED = ("cuinit-failed", "driver-absent", "placement-failed", "library-missing", "nvml-failed")
_IN_USE = "216"  # by another thread; returned in exclusive modes only
# the first GPU, because CUDA also refuses an index that is too high
_EXISTS = re.compile(r"^(?=.*\bordinal 0\b).*\bcuDevicePrimaryCtxRetain\b")
_NOT_THE_FIRST = re.compile(r"(?i)gpu:[1-9]")  # programs request GPU 0 on any machine


def no_nvidia_gpu(events: Events) -> Cause | None:
    """Detect that there is no GPU, from the driver's report or the whole log. A job that needs none may have none on purpose."""
    failure = events.inferred(infer_startup_failure, "no-nvidia-gpu")
    if failure is None:
        return None
    if failure.result == NO_LIBRARY:
        why = "CUDA found no driver (303), and nothing in the log mentions a GPU"
    elif failure.result == NO_DEVICE:
        why = "the driver's library is installed, but its kernel module is not running (CUDA error 100)"
    else:
        why = "nvidia-smi lists no GPU"
    repair_values = {"unharmed": "yes"} if continued_after(events, failure) else {}
    return Cause(
        f"No NVIDIA GPU was found: {why}.", failure.events, intended=not failure.gpu_expected, repair_values=repair_values
    )


def container_without_gpu(events: Events) -> Cause | None:
    """Detect a container without a GPU: the container runtime or the scheduler refused it, or the whole log implies it."""
    if denied := _denied(events):
        reason, message = denied[0].fields["reason"], denied[0].fields.get("message", "")
        summary = f"A container got no GPU: {_NOT_GIVEN[reason]}{f' ({short(message)})' if message else ''}."
        gpu_expected = reason != "no-files" or bool(events.without_later_gpu_use(*_MISSED))
        return Cause(summary, denied, intended=not gpu_expected)
    if taken := taken_from_container(events):
        summary = (
            "A container has no GPU, or has lost it, although the host may use its GPU: no device responds inside the container."
        )
        return Cause(summary, taken, repair_values={"lost": "yes"})
    failure = events.inferred(infer_startup_failure, "container-without-gpu")
    if failure is None:
        return None
    host = f" ({failure.host})" if failure.host else ""
    gpu_expected = failure.gpu_expected or failure.result != NO_LIBRARY
    return Cause(f"This container{host} has no GPU: no driver responds inside it.", failure.events, intended=not gpu_expected)


def _denied(events: Events) -> list[Event]:
    # the toolkit uses the host's CUDA, which failed to initialize
    of_host = {event.line for event in events.cuda_refusals(UNKNOWN, CUDA_ERROR_OPERATING_SYSTEM)}
    denied = events.without_later_gpu_use("container-gpu-denied", reason="|".join(_NOT_GIVEN))
    denied = [event for event in denied if event.line not in of_host]
    if not events.unresolved("container-gpu-denied"):  # the job waited for a GPU, and got one
        denied = [event for event in denied if event.fields["reason"] != "scheduler"]
    return denied


def devices_hidden(events: Events) -> Cause | None:
    """Detect hidden GPUs: a variable hides all, a requested GPU index is not visible, or a working driver shows no GPU."""
    hiding = events.of("devices-hidden")
    none = events.cuda_refusals(NO_DEVICE)
    idle = events.without_later_gpu_use("cpu-fallback", "gpus-listed")  # a GPU listed later cancels the count
    failure = events.inferred(infer_startup_failure, "devices-hidden")
    if variables := [event for event in hiding if none or (idle and event.fields.get("value", "") in HIDES_ALL)]:
        value = variables[0].fields.get("value", "")
        gpu_expected = value not in HIDES_ALL or (failure is not None and failure.gpu_expected)
        shown = f"CUDA_VISIBLE_DEVICES={value}" if value else "CUDA_VISIBLE_DEVICES, set to an empty value,"
        return Cause(f"{shown} hides every GPU from CUDA.", [*none[:1], *variables], intended=not gpu_expected)
    if failure is not None:
        if failure.kernel:
            start = f"The NVIDIA driver {failure.kernel} works, but shows this process no GPU: all are hidden from it (CUDA error 100)."
        else:
            start = "CUDA's driver library works, but shows this process no GPU: all are hidden, or none was passed to it."
        if any(RAY_WORKER.match(event.text) for event in failure.events):
            start = "Ray started this worker without a GPU, and hides every GPU from it."
            return Cause(start, failure.events, intended=not failure.gpu_expected, repair_values={"ray": "yes"})
        gpu_expected = failure.gpu_expected or not failure.is_fallback_probe
        return Cause(start, failure.events, intended=not gpu_expected)
    beyond = [event for event in events.cuda_refusals(CUDA_ERROR_INVALID_DEVICE) if event.kind == "cuda-error"]
    beyond = [event for event in beyond if not _exists(event, events)]
    old = events.of("gpu-ignored", reason="capability")
    # TensorFlow found it, and reported it as too old
    beyond = [event for event in beyond if not (old and "PrimaryCtxRetain" in event.text)]
    beyond += [event for event in events.of("placement-failed") if _NOT_THE_FIRST.search(event.fields.get("device", ""))]
    if not beyond:
        return None
    summary = "The program requests a GPU index that is not visible to this process."
    return Cause(summary, beyond, repair_values={"beyond": "yes"})


def _exists(event: Event, events: Events) -> bool:
    """Whether CUDA refused a context on a GPU that definitely exists."""
    shown = events.has("compute-mode") and "cuDevicePrimaryCtxRetain" in event.text
    return shown or _EXISTS.search(event.text) is not None


def compute_mode_exclusive(events: Events) -> Cause | None:
    """Detect a GPU that CUDA refuses although it exists, and although TensorFlow did not report it as too old."""
    refused = [event for event in events.cuda_refusals(CUDA_ERROR_INVALID_DEVICE) if _exists(event, events)]
    refused += events.cuda_refusals(_IN_USE)
    if not refused or events.of("gpu-ignored", reason="capability"):
        return None
    lines = [*refused, *events.of("compute-mode")[:1]]
    template = (
        "CUDA can't use a GPU that exists (error {code}): its compute mode[ {mode}] probably allows only one process, and another"
        " one uses it."
    )
    return Cause(sentence(template, lines), lines)


def mig_misconfigured(events: Events) -> Cause | None:
    """Detect a GPU in MIG mode for which CUDA has no device, although no variable hides one."""
    failure, shown = events.inferred(infer_startup_failure, "devices-hidden"), events.without_later_gpu_use("mig-shown")
    if failure is None or not shown or events.without_later_gpu_use("devices-hidden"):
        return None
    severity = None if failure.gpu_expected or not failure.is_fallback_probe else Severity.WARNING
    lines = [shown[0], *failure.events]
    summary = "The GPU is in MIG mode, and CUDA finds none of its instances."
    return Cause(summary, lines, severity, repair_values={"shown": "yes"})


def device_permission_denied(events: Events) -> Cause | None:
    """Detect denied access to device files. NVML's "Unknown Error" at its start means that a container lost its devices."""
    denied = events.without_later_gpu_use("device-denied")
    denied += events.nvml_refusals(*NOT_PERMITTED)
    if not reported(events.log.events, "gpu"):
        taken = taken_from_container(events)
        denied += [event for event in events.nvml_refusals(NVML_UNKNOWN) if not event.fields.get("device") and event not in taken]
    if not denied:
        return None
    denied = in_order(*denied)
    if paths := values(denied, "path"):
        summary = f"This process is not allowed to open {listing(paths)}: the file's mode or the control group denies it."
    else:
        message = denied[0].fields.get("message") or denied[0].fields.get("name", "")
        summary = f"The system denies this process access to the NVIDIA driver: NVML returns {short(message)}."
    return Cause(summary, denied)


def gpus_not_listed(events: Events) -> Cause | None:
    """Detect a program that finds no GPU, if no line gives a reason; an error only if another line shows a GPU."""
    counted = events.of("gpus-listed")
    if not counted or any(uses_gpu(event) for event in events.log.events):
        return None
    there = events.of("gpu-on-bus", "gpu-found") + events.of("driver-version", cuda=".+")
    backend = "torch" if re.search("torch|your machine only has", counted[0].text) else "tensorflow"  # PyTorch Lightning's words
    who = TITLES[backend]
    summary = f"The driver lists a GPU, but {who} lists none." if there else f"{who} lists no GPU."
    severity = None if there or events.has("placement-failed") else Severity.WARNING
    return Cause(summary, [counted[0], *there[:1]], severity, repair_values={"backend": backend})
