"""Memory causes: GPU or host memory is exhausted by the program, or in use before it started."""

import re

from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events, first_value, values
from gpucheck.core.logs.events import Event, of_host
from gpucheck.core.logs.reading.lines import headless
from gpucheck.core.model import Severity
from gpucheck.core.model.wording import LOADING_FAILED, byte_count, gib, library_not_started, short

# Illegal addresses and instructions, failed assertions: faults of the program, rarely of the board.
KERNEL_FAULTS = "700|710|714|715|716|717|718|719"
_TOO_LITTLE_MB = 256  # all GPUs that TensorFlow supports have more, so the rest is in use
_ENOUGH = 2 << 30  # bytes, for any library to start
_LARGE_MB = 1024  # processes with less are desktop programs
_INTEGRATED = re.compile(r"\b(?:Tegra|Xavier|Orin|Thor)\b")  # their memory is the host's, which files and a desktop also use
_OOM = re.compile(r"OOM when allocating .*?(?= on /job:| by allocator|$)")
_REJECTED = re.compile("_(?:BAD_PARAM|INVALID_VALUE|NOT_SUPPORTED)$")  # a call of a library that has started
_KILLED = re.compile(r"(?:signal )?(?:SIGKILL|KILL|9|137)")
# The status of a shell or container whose program was killed by SIGKILL, and mpirun's message, whoever sent the signal
_STATUS = re.compile(r"\b137\b|exited on signal 9")


def is_kernel_fault(event: Event) -> bool:
    """Whether a kernel made an illegal access, after which every call fails."""
    return event.kind == "cuda-error" and re.fullmatch(KERNEL_FAULTS, event.fields.get("code", "")) is not None


def gpu_memory_exhausted(events: Events) -> Cause | None:
    """Detect an allocation on the device that failed, and whose retries failed."""
    failed = [event for event in events.unresolved("out-of-memory") if not of_host(event)]
    if not failed and not any(of_host(event) for event in events.of("out-of-memory", "allocator-dump")):
        # without the allocator's name it may be host memory
        failed = [event for event in events.unresolved("allocator-dump") if not of_host(event)]
    if events.has("open-files-limit"):  # TensorFlow reports it under the same name
        failed = [event for event in failed if event.fields]
    if events.has("nvml-failed", "driver-mismatch"):  # the cause of PyTorch's assertion
        failed = [event for event in failed if "NVML_SUCCESS" not in event.text]
    failed = [event for event in failed if not _is_reservation(event, events)]
    if not failed:
        return None
    fields = failed[0].fields
    size = fields.get("bytes", "")
    what = f"an allocation of {gib(int(size))}" if size.isdigit() else "an allocation"
    on_tpu = fields.get("device") == "TPU"
    on = f" on {fields['device']}" if fields.get("device") and not on_tpu else ""
    whole = first_value(failed, "whole") or ""
    size_of = f"{what}, for a copy of a whole array," if whole else what
    summary = f"{'TPU' if on_tpu else 'GPU'} memory ran out: {size_of}{on} failed."
    loading = "yes" if events.has("preset-loading") and not events.has("training-progress") else ""
    return Cause(
        summary, failed[:1], repair_values={"shape": first_value(failed, "shape") or "", "whole": whole, "loading": loading}
    )


def _is_reservation(event: Event, events: Events) -> bool:
    """Whether TensorFlow tried to reserve more than the free memory at startup, as it does on some GPUs; then it reserves less."""
    free = [byte_count(other.fields["free"]) or 0 for other in events.of("gpu-memory")]
    return "from device" in event.text and bool(free) and int(event.fields.get("bytes", "0")) > max(free)


def host_memory_exhausted(events: Events) -> Cause | None:
    """Detect a failed allocation in main memory, or a program that was killed because memory ran out."""
    failed = events.unresolved("host-out-of-memory", "out-of-memory", "allocator-dump", "killed")
    failed = [event for event in failed if _on_host(event)]
    if not failed:
        return None
    buffer = first_value(events.of("shuffle-buffer-filling"), "size") or ""
    status = [event for event in failed if event.kind == "killed" and _STATUS.search(event.text)]
    if status and all(event.kind == "killed" for event in failed) and not _short_of_memory(events):
        code = " (exit code 137)" if "137" in status[0].text else ""
        summary = f"The program was killed by SIGKILL{code}, most often because main memory ran out."
        return Cause(summary, status[:1], repair_values={"sender": "unknown", "buffer": buffer})
    failed.sort(key=lambda event: "shape" not in event.fields)
    message = headless(failed[0].text)
    shaped = _OOM.search(message)
    summary = f"Main memory ran out: {short(short(shaped[0] if shaped else message), 100)}."
    return Cause(summary, failed[:1], repair_values={"buffer": buffer})


def _short_of_memory(events: Events) -> bool:
    """Whether a line of the log reports that main memory is short, even if nothing failed."""
    allocations = events.of("host-out-of-memory", "out-of-memory", "allocator-dump")
    return any(of_host(event) for event in allocations) or any("system memory" in event.text for event in events.log.harmless)


def _on_host(event: Event) -> bool:
    if event.kind == "killed":
        return _KILLED.fullmatch(event.fields.get("signal", "")) is not None
    return of_host(event)


def gpu_memory_held_by_others(events: Events) -> Cause | None:
    """Detect a GPU that was full before the program started: no context could be created, or other processes are listed."""
    failed = [event for event in events.unresolved("out-of-memory") if not of_host(event)]
    failed += events.unresolved("cublas-failed", "cudnn-failed", "gpu-memory-full")
    given = any(int(size) >= _TOO_LITTLE_MB for size in values(events.of("gpu-created"), "memory_mb") if size.isdecimal())
    taken = [event for event in events.log.events if _is_taken(event) or (failed and _is_large(event))]
    taken = [event for event in taken if event.kind != "gpu-memory-limit" or (failed and not given)]
    shared = any(_INTEGRATED.search(event.fields.get("name", "")) for event in events.of("gpu-found", "gpu-created"))
    if not taken or (shared and not failed):
        return None
    held = next((event.fields for event in taken if event.kind == "gpu-memory-holders"), None)
    if held:
        summary = f"Other processes hold {gib(int(held['others']))} of the GPU's {gib(int(held['total']))}."
    else:
        summary = "Most of the GPU's memory was already in use when this program started."
    severity = Severity.ERROR if failed else Severity.WARNING
    pids = ",".join(dict.fromkeys(values([event for event in taken if event.kind == "gpu-process"], "pid")))
    return Cause(summary, [*taken, *failed[:1]], severity, repair_values={"pids": pids, "starved": "yes"})


def _is_taken(event: Event) -> bool:
    fields = event.fields
    if event.kind == "gpu-memory":
        free, total = byte_count(fields["free"]), byte_count(fields["total"])
        return free is not None and total is not None and 4 * free < total
    if event.kind == "gpu-memory-holders":
        return 4 * int(fields["others"]) > int(fields["total"])
    if event.kind == "gpu-memory-limit":
        return (byte_count(event.fields["size"]) or 0) < _TOO_LITTLE_MB << 20
    if event.kind == "gpu-created":
        return fields.get("memory_mb", "").isdecimal() and 0 < int(fields["memory_mb"]) < _TOO_LITTLE_MB
    return event.kind == "gpu-memory-full"


def _is_large(event: Event) -> bool:
    """Whether it is a large compute process in nvidia-smi's table, which on some boards does not show the total memory."""
    fields = event.fields
    return event.kind == "gpu-process" and "C" in fields.get("type", "") and int(fields.get("memory_mb", "0")) >= _LARGE_MB


def cublas_init_failed(events: Events) -> Cause | None:
    """Detect a failed start of cuBLAS: it needs memory outside TensorFlow's pool, and none was free."""
    return _library_did_not_start(events, "cuBLAS", "cublas-failed")


def cudnn_init_failed(events: Events) -> Cause | None:
    """Detect a failed start of cuDNN: it needs memory outside TensorFlow's pool, and none was free."""
    return _library_did_not_start(events, "cuDNN", "cudnn-failed")


def _library_did_not_start(events: Events, library: str, kind: str) -> Cause | None:
    at_all = [event for event in events.of(kind) if not _REJECTED.search(event.fields.get("status", ""))]
    failed = [event for event in events.unresolved(kind) if event in at_all]
    broken = [event for event in events.log.events if is_kernel_fault(event)]
    if not failed:
        return None
    if broken and broken[0].line <= at_all[0].line and not any("create" in event.text for event in at_all):
        return None  # a kernel failed first, after which all calls fail
    text = " ".join([failed[0].text, *values(failed, "status")])
    if LOADING_FAILED in text:
        return Cause(library_not_started(library, text), failed[:1], repair_values={"spare": "yes"})
    memory = events.of("library-memory")
    if memory and all(int(event.fields["free"]) > min(_ENOUGH, int(event.fields["total"]) // 2) for event in memory):
        return Cause(library_not_started(library, text, spare=True), [*failed[:1], memory[0]], repair_values={"spare": "yes"})
    return Cause(library_not_started(library, text), failed[:1])
