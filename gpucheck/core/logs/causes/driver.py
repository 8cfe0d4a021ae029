"""Driver causes: missing, not loaded, too old or of mixed versions, or the reason why CUDA can't be initialized."""

import re

from gpucheck.core.compat import cuda, nvml, results, versions
from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events, first_value, in_order, values
from gpucheck.core.logs.causes.startup import (
    NO_LIBRARY,
    NVML_NO_GPU,
    NVML_UNKNOWN,
    continued_after,
    infer_startup_failure,
    missing_driver_libraries,
    module_failures,
)
from gpucheck.core.logs.xid import address, codes, reported, required_action
from gpucheck.core.model import Severity
from gpucheck.core.model.wording import DRIVER_NOT_LOADED, driver_mismatch, short

# CUDA results of another cause, by themselves or together with other lines
_OF_ANOTHER_CAUSE = {
    *map(str, (*cuda.CUDA_ERRORS_WITH_DIAGNOSIS, cuda.CUDA_ERROR_NOT_INITIALIZED, cuda.CUDA_ERROR_NO_DEVICE)),
    NO_LIBRARY,
}
_ROCM_FAILED = re.compile(r"(?i)fail|ignoring visible|error|cannot|denied|unable|not found|count\W{0,3}0")
_NOT_LOADED = {
    "signature": "the kernel rejects its module because it is not signed (Secure Boot)",
    "not-built": "its kernel module was not built for the running kernel",
    "build-failed": "its kernel module can't be built for this kernel",
    "nouveau": "the nouveau driver uses the GPU, and cannot run CUDA",
    "no-device": "its kernel module found no GPU that it can use",
}


def driver_missing(events: Events) -> Cause | None:
    """Detect that the log shows neither kernel module nor libraries. If no GPU was requested, this may be intended."""
    failure = events.inferred(infer_startup_failure, "driver-missing")
    cited, gpu_expected = (failure.events, failure.gpu_expected) if failure else ([], True)
    held = [event for event in module_failures(events) if event.fields.get("reason") == "nouveau"]
    if held and (absent := events.without_later_gpu_use("driver-absent")):
        cited = [*absent, *held]
    if not cited:
        return None
    device = first_value([*cited, *events.without_later_gpu_use("gpu-on-bus")], "device")
    no_tool = any("nvidia-smi" in event.text for event in cited)
    unfound = "neither its library nor nvidia-smi was found" if no_tool else "its library was not found"
    why = "; it uses nouveau, which cannot run CUDA" if held else f": {unfound}"
    summary = f"No NVIDIA driver is installed{f' for the GPU at {device}' if device else ''}{why}."
    if not device and all(event.kind == "cuda-drivers-not-found" for event in cited):
        summary = "TensorFlow found no CUDA: the NVIDIA driver or TensorFlow's own CUDA libraries are missing."
    if "__cuda" in cited[0].text:
        summary = "conda found no NVIDIA driver on this machine, and this build of the package requires one."
    unharmed = {"unharmed": "yes"} if failure and not gpu_expected and continued_after(events, failure) else {}
    return Cause(summary, cited, intended=not gpu_expected, repair_values=unharmed)


def driver_not_loaded(events: Events) -> Cause | None:
    """Detect a driver that is not loaded: the module or NVML reports it, or the whole log implies it."""
    failed = module_failures(events)
    unsupported = events.without_later_gpu_use("gpu-unsupported-by-driver")
    unresponsive = [] if events.without_later_gpu_use("wsl") else events.nvml_refusals("9")
    # all GPUs: if only some fail, they are lost
    handles = events.nvml_refusals(NVML_UNKNOWN) if events.nvml_refusals(NVML_NO_GPU) else []
    handles = [event for event in handles if event.fields.get("device")]
    cited = [*failed, *unsupported, *unresponsive, *handles]
    failure = events.inferred(infer_startup_failure, "driver-not-loaded")
    if not cited and failure:
        cited = failure.events
    if not cited:
        return None
    reason = _NOT_LOADED.get(first_value(failed, "reason") or "")
    if first_value(unsupported, "reason") == "open-module":
        summary = "The NVIDIA driver uses its proprietary kernel module, but this GPU needs the open one."
    elif unsupported:
        version = first_value(unsupported, "driver")
        summary = f"The NVIDIA driver{f' {version}' if version else ''} is loaded but does not support this GPU."
    elif reason is not None:
        summary = f"The NVIDIA driver is not loaded: {reason}."
    elif handles and not (failed or unresponsive):
        summary = "The NVIDIA driver is loaded but could not initialize any GPU."
    else:
        summary = DRIVER_NOT_LOADED
    repaired_by = "unsupported" if unsupported else "refused" if handles and not (failed or unresponsive) else ""
    return Cause(summary, cited, repair_values={} if first_value(cited, "reason") else {"reason": repaired_by})


def driver_library_missing(events: Events) -> Cause | None:
    """Detect a missing library of a driver whose kernel module responds, or whose nvidia-smi is installed."""
    failure = events.inferred(infer_startup_failure, "driver-library-missing")
    if failure is None:
        return None
    missing = missing_driver_libraries(events)
    watching = missing and failure.result is None and not any("cuda" in event.text.lower() for event in missing)
    library = "libnvidia-ml.so.1" if watching else next(iter(values(missing, "soname")), "libcuda.so.1")
    state = "empty" if "file too short" in values(missing, "error") else "not found"
    if failure.kernel or any("nvidia-smi" in event.text.lower() for event in failure.events):
        summary = f"The NVIDIA driver{f' {failure.kernel}' if failure.kernel else ''} is installed, but its library {library} is {state}."
    else:
        summary = f"The NVIDIA driver's library {library} is {state} where this program runs."
    return Cause(summary, failure.events)


def driver_too_old(events: Events) -> Cause | None:
    """Detect a driver that CUDA or the container runtime reports as too old; CUDA's runtime also does so without a driver."""
    cited = [*events.without_later_gpu_use("driver-too-old"), *events.cuda_refusals(*cuda.results_of("driver-too-old"))]
    cited += events.without_later_gpu_use("ptx-unsupported", code="222")
    failure = events.infer(infer_startup_failure)
    if not cited or (failure is not None and failure.code != "devices-hidden"):
        return None
    cited = in_order(*cited)
    has, needed = first_value(cited, "version"), first_value(cited, "needed")
    if has and has.isdecimal() and len(has) >= 4:  # PyTorch prints CUDA's number: 11040 is 11.4
        has = versions.of_cuda(int(has))
    condition = (first_value(cited, "condition") or "cuda").replace("cuda", "CUDA")
    supports = f", which supports CUDA up to {has}," if has else ""
    summary = f"The NVIDIA driver{supports} is too old for {f'{condition} {needed}' if needed else 'the CUDA of this program'}."
    return Cause(summary, cited)


def driver_library_mismatch(events: Events) -> Cause | None:
    """Detect a driver library that differs from the kernel module: by their versions, or as NVML or CUDA reports."""
    compat = events.cuda_refusals(cuda.CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE)
    cited = [
        *events.without_later_gpu_use("driver-mismatch"),
        *events.nvml_refusals(nvml.VERSION_MISMATCH),
        *events.cuda_refusals(*cuda.results_of("driver-library-mismatch")),
    ]
    reported = events.without_later_gpu_use("driver-version")
    kernel, library = first_value([*cited, *reported], "kernel"), first_value([*cited, *reported], "library")
    if not cited and events.cuda_refusals() and kernel and library and _numbers(kernel) != _numbers(library):
        cited = reported
    if not cited:
        return None
    summary = driver_mismatch(kernel, library)
    known = kernel and library and kernel != library
    if not known and compat and len(compat) == len(cited):
        summary = (
            "The driver's library does not match its kernel module (CUDA error 804): either the driver was upgraded without"
            " a restart, or a forward-compatibility library (cuda-compat) was loaded on a GPU that does not support it."
        )
    elif not known and all(event.fields.get("reason") == "firmware" for event in cited):
        summary = f"The NVIDIA kernel module{f' {kernel}' if kernel else ''} can't start the GPU: firmware of its version is not installed."
    return Cause(summary, in_order(*cited))


def _numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers for comparison: TensorFlow prints 384.81 as 384.81.0, and 580.159.04 as 580.159.4."""
    numbers = [int(part) for part in version.split(".") if part.isdecimal()]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def cuda_init_failed(events: Events) -> Cause | None:
    """Detect a failed CUDA start without another cause, a later "unknown error", or an Xid of a GPU that did not start."""
    cited = [event for event in events.cuda_refusals() if event.fields.get("code") not in _OF_ANOTHER_CAUSE]
    cited = cited or events.cuda_refusals(cuda.CUDA_ERROR_OPERATING_SYSTEM, cuda.CUDA_ERROR_UNKNOWN, *cuda.CUDA_ERRORS_OF_MPS)
    xids = reported(events.log.events, "start")
    if not cited and not xids:
        return None
    code = first_value(cited, "code") or ""
    result = results.cuda(code) if code.isdecimal() else None
    if result is not None and result.meaning:
        summary = f"CUDA can't be initialized: it returns {result.name} ({code}: {result.meaning})."
    else:
        reason = first_value(cited, "message") or (xids[0][1].meaning if xids else "the driver gives no reason")
        summary = f"CUDA can't be initialized: {short(reason)}."
    action, lines = required_action(events.log.events, xids) if xids else (None, [])
    cited = [*cited, *(event for event, _ in xids), *lines]
    devices = [device for event, _ in xids if (device := address(event))]
    starting = {"starting": "yes"} if any("nvidia-container-cli" in event.text for event in cited) else {}
    return Cause(summary, cited, None, tuple(devices), repair_values=codes(xids) | starting, action=action)


def wsl_misconfigured(events: Events) -> Cause | None:
    """Detect a problem with WSL that the driver's libraries or the container toolkit report."""
    wsl = any("wsl" in event.text.lower() for event in events.log.events)  # /dev/dxg is also missing without Windows
    cited = events.without_later_gpu_use("wsl")
    cited = [event for event in cited if wsl or not event.fields.get("message", "").startswith("/dev/dxg")]
    inside = events.of("wsl-inside")
    refused = (events.cuda_refusals() + events.nvml_refusals("9", "12", "17"))[:2] if inside else []
    if not cited and not refused:
        return None
    first = (cited or refused)[0]
    # programs can train without NVML
    watching = not refused and all(event.fields.get("library", "").startswith("libnvidia-ml") for event in cited)
    summary = f"WSL provides no NVIDIA GPU: {short(first.fields.get('message', first.text))}."
    return Cause(summary, [*cited, *refused, *inside[:1]], Severity.WARNING if watching else None)


def rocm_gpu_unsupported(events: Events) -> Cause | None:
    """Detect failed ROCm calls, or a bus whose only GPU is from AMD although CUDA was requested."""
    cited = events.unresolved("rocm", unsupported=".+")
    others = [event for event in events.without_later_gpu_use("rocm") if event not in cited]
    cited += [event for event in others if _ROCM_FAILED.search(event.text) and "Memory" not in event.text]
    amd = events.without_later_gpu_use("amd-gpu")
    refused = events.without_later_gpu_use("cuinit-failed", "driver-absent", "cuda-drivers-not-found", "nvml-failed")
    if amd and refused and not events.without_later_gpu_use("gpu-on-bus"):
        cited = [*cited, *amd, *refused[:1]]
    elif not cited:
        return None
    return Cause("The GPU in this log is from AMD, and this program cannot use it.", cited)
