"""The reason why CUDA failed to initialize, inferred from several lines if no single line identifies it.

TensorFlow, PyTorch and JAX print similar messages if the GPU, the driver or a device file is missing, and if the GPU is hidden.
Other lines distinguish these cases: the version of the kernel module if it responded, signs of a container, the names of GPUs.
"""

import re
from typing import NamedTuple

from gpucheck.core.compat import nvml
from gpucheck.core.compat.cuda import CUDA_ERROR_NO_DEVICE, CUDA_ERROR_UNKNOWN, results_of
from gpucheck.core.logs.causes.events import Events, in_order, lists_gpus, lists_no_gpu, uses_gpu, values
from gpucheck.core.logs.events import CONTAINER, HOST, PLACE, Event
from gpucheck.core.logs.log import ENDS

# CUresult; TensorFlow prints 303 without libcuda.so.1
NO_DEVICE, UNKNOWN = str(CUDA_ERROR_NO_DEVICE), str(CUDA_ERROR_UNKNOWN)
(STUB,) = map(str, results_of("cuda-stub-loaded"))
NO_LIBRARY = "303"
NVML_NO_LIBRARY, NVML_NO_GPU, NVML_UNKNOWN = map(str, (nvml.LIBRARY_NOT_FOUND, nvml.GPU_NOT_FOUND, nvml.UNKNOWN_ERROR))

# These lines identify the cause (as do some NVML results), so nothing else is inferred.
_DIRECT = (
    "driver-mismatch",
    "driver-too-old",
    "driver-hung",
    "fabric-not-ready",
    "gpu-lost",
    "gpu-init-failed",
    "gpu-absent",
    "gpu-unsupported-by-driver",
    "wsl",
    "container-gpu-denied",
    "device-denied",
    "device-node-missing",
    "mig-failed",
    "cuda-used-after-fork",
    "windows-native",
    "macos",
    "rocm",
)
_OF_THE_DRIVER = re.compile(r"^(?:libcuda\.|nvcuda|libnvidia-ml|nvml\.)")
# nvidia-smi is part of the driver; the programs in Go (Kubernetes' plugins, the container toolkit) run on nodes with one
_ON_NODES = re.compile(r"(?i)nvidia-smi|could not load NVML library|\bERROR_LIBRARY_NOT_FOUND\b|: file too short")
RAY_WORKER = re.compile(r"\([\w ]*pid=\d+")
_NEAR = 30  # lines in which one start of CUDA prints its failures
_ABOUT_A_GPU = re.compile(r"(?i)\bgpu|cuda|nvidia|nvml")


class StartupFailure(NamedTuple):
    """Why CUDA has no GPU, according to a log."""

    code: str  # of the rule
    events: list[Event]  # the lines that show it
    gpu_expected: bool  # whether anything in the log expects a GPU; if not, a machine without one may be intended
    kernel: str | None  # version of the loaded kernel module
    host: str | None  # name of the container
    result: str | None  # the result of cuInit
    is_fallback_probe: bool  # JAX prints it for every backend that it tries


class _Signs:
    """Lines of a log about CUDA's initialization."""

    def __init__(self, events: Events) -> None:
        self.kernel_absent = events.without_later_gpu_use("kernel-driver-absent")
        self.on_bus = events.without_later_gpu_use("gpu-on-bus")
        self.versions = events.of("driver-version", "driver-versions-agree")
        kernels = values(self.versions, "kernel", "version")
        self.kernel = None if self.kernel_absent else next(iter(kernels), None)
        self.containers = [event for event in events.log.events if _is_container(event)]
        # a container reads its host's /proc, and nvidia-smi may have run on the host
        entered = self.containers[0].line if self.containers else 0
        self.inside = bool(entered) and not any(lists_gpus(event) and event.line > entered for event in self.versions)
        refused = events.cuda_refusals(NO_DEVICE, UNKNOWN, STUB, NO_LIBRARY)
        refused = [event for event in refused if not _follows_an_error(event, events)]
        self.refused = [event for event in refused if event.kind == "cuinit-failed" or event.fields["code"] != UNKNOWN]
        self.result = self.refused[0].fields["code"] if self.refused else None
        self.no_library = missing_driver_libraries(events)
        self.no_driver = events.without_later_gpu_use("driver-absent") if self.kernel is None else []
        started = events.without_later_gpu_use("gpu-libraries-missing")  # printed after CUDA was initialized
        evidence_of_driver = started or self.refused or self.versions
        self.not_found = [] if evidence_of_driver else events.without_later_gpu_use("cuda-drivers-not-found")
        self.no_gpu = events.nvml_refusals(NVML_NO_GPU)
        nodes = self.containers or self.kernel_absent or self.no_driver
        self.no_nodes = events.without_later_gpu_use("device-node-missing") if nodes else []
        self.lines = in_order(*self.refused, *self.no_library, *self.no_driver, *self.not_found, *self.no_gpu, *self.no_nodes)


def infer_startup_failure(events: Events) -> StartupFailure | None:
    """Return the cause inferred from the whole log; None if a line identifies one, or the initialization did not fail."""
    signs = _Signs(events)
    if not (signs.lines or signs.kernel_absent) or _is_named(events, signs) or _on_tpu(events, signs):
        return None
    taken = taken_from_container(events)
    lines = taken or signs.lines
    code, support = ("container-without-gpu", []) if taken else _code(events, signs)
    if code is None:
        return None
    passing = {event.line for event in events.of("backend-unavailable", fatal="no")}
    return StartupFailure(
        code,
        [*lines[:3], *signs.kernel_absent[:1], *support[:1]],
        _expects_gpu(events),
        signs.kernel,
        signs.containers[0].fields.get("host") if signs.containers else None,
        signs.result,
        bool(lines) and all(event.line in passing for event in lines),
    )


def _code(events: Events, signs: _Signs) -> tuple[str | None, list[Event]]:
    """Return the cause and the line that shows it; None if only CUDA's result is known."""
    if signs.no_library and all(event.fields.get("soname") == "libcuda.so" for event in signs.no_library):
        return "driver-library-missing", []  # the name for linking: CUDA itself opens libcuda.so.1
    if signs.kernel is not None and (signs.result == NO_LIBRARY or signs.no_library):
        return "container-without-gpu" if signs.inside else "driver-library-missing", signs.versions[-1:]
    if signs.result == NO_DEVICE and not (signs.kernel_absent or signs.no_gpu):
        # TensorFlow started to print the driver's versions, but printed none: it can't on Windows, and Ray hides the GPUs first
        of_ray = any(RAY_WORKER.match(event.text) for event in signs.refused)
        none = signs.kernel is None and events.has("cuda-diagnostics") and not of_ray
        return "no-nvidia-gpu" if none else "devices-hidden", signs.versions[-1:]
    stub_without_gpu = signs.result == STUB and signs.no_nodes
    if signs.result in (UNKNOWN, STUB) and not (signs.kernel_absent or signs.no_driver or stub_without_gpu):
        return None, []
    if signs.containers:
        return "container-without-gpu", signs.containers
    return _code_outside(signs)


def _code_outside(signs: _Signs) -> tuple[str | None, list[Event]]:
    """Return the same for a log from outside containers in which no kernel module responded."""
    if signs.result == UNKNOWN or not signs.lines:
        return "driver-not-loaded", []
    if signs.result == STUB:  # an image's own library, without a driver below it
        return "driver-missing" if signs.no_driver else "container-without-gpu" if signs.kernel_absent else None, []
    if signs.on_bus and not (signs.no_driver or signs.no_library or signs.not_found or signs.result == NO_LIBRARY):
        return "driver-not-loaded", signs.on_bus
    if any(_ON_NODES.search(event.text) for event in signs.no_library):
        return "driver-library-missing", []
    if (signs.result or signs.no_gpu) and not (signs.no_driver or signs.on_bus):
        return "no-nvidia-gpu", []
    return "driver-missing", signs.on_bus


def continued_after(events: Events, failure: StartupFailure) -> bool:
    """Whether a program that needs no GPU printed more after the failure, and nothing in the log looks like an error."""
    last = max(event.line for event in failure.events)
    cited = {event.line for event in failure.events}
    failed = any(event.fields["looks"] in ENDS and event.line not in cited for event in events.log.suspects)
    return not (failure.gpu_expected or failed) and failure.result in (None, NO_LIBRARY) and last < events.log.lines


def taken_from_container(events: Events) -> list[Event]:
    """Return failures in a container whose GPUs were removed or not passed to it.

    These are NVML's "unknown error" (its control group was rewritten), any failure while the host uses its GPUs, or a result
    of a stub library.
    """
    inside = [event for event in events.log.events if event.fields.get(PLACE) == CONTAINER]
    if not inside or events.without_later_gpu_use(*_DIRECT):
        return []
    outside = [event for event in events.log.events if event.fields.get(PLACE, "").startswith(HOST)]
    refused = events.nvml_refusals(NVML_UNKNOWN)
    if any(lists_gpus(event) or uses_gpu(event) for event in outside):
        refused += events.nvml_refusals("9", NVML_NO_LIBRARY, NVML_NO_GPU)
        refused += events.cuda_refusals(NO_DEVICE, NO_LIBRARY, UNKNOWN)
    # images contain a stub of libcuda.so.1, which is loaded if the driver's library was not passed in
    refused += [] if any(lists_gpus(event) for event in inside) else events.cuda_refusals(STUB)
    return in_order(*(event for event in refused if event in inside and not event.fields.get("device")))


def module_failures(events: Events) -> list[Event]:
    """Return lines with the reason why the kernel module is not loaded; nouveau may use one card and the driver another."""
    works = events.has("gpu-driven") or events.of("driver-version", cuda=".+")
    failures = events.without_later_gpu_use("kernel-module-failed")
    if events.has("gpu-lost"):  # the driver failed only for that GPU
        failures = [event for event in failures if "probe routine failed for" not in event.text]
    return [event for event in failures if not (works and event.fields.get("reason") == "nouveau")]


def missing_driver_libraries(events: Events) -> list[Event]:
    """Return the lines that report a missing library of the driver."""
    missing = events.without_later_gpu_use("library-missing")
    missing = [event for event in missing if _OF_THE_DRIVER.match(event.fields.get("soname", ""))]
    return missing + events.nvml_refusals(NVML_NO_LIBRARY)


def _follows_an_error(event: Event, events: Events) -> bool:
    """Whether no device is left because CUDA refused each of them, in lines just before."""
    errors = events.of("cuda-error") if "no supported devices" in event.text else []
    return any(0 <= event.line - error.line <= _NEAR for error in errors)


def _is_container(event: Event) -> bool:
    of_the_driver = event.kind == "library-missing" and _OF_THE_DRIVER.match(event.fields.get("soname", ""))
    if event.kind == "cuinit-failed" or of_the_driver:
        return event.fields.get(PLACE) == CONTAINER or "/.singularity.d/" in event.text
    return event.kind == "container-host" or event.fields.get("reason") == "hidden"


def _on_tpu(events: Events, signs: _Signs) -> bool:
    """Whether a program on a TPU only mentions that it has no GPU."""
    on_tpu = any(event.kind.startswith("tpu-") for event in events.log.events)
    return on_tpu and (signs.result == NO_LIBRARY or bool(signs.not_found))


def _is_named(events: Events, signs: _Signs) -> bool:
    """Whether a line identifies a cause."""
    indirect = list(signs.no_nodes)
    if signs.no_library or signs.no_driver or signs.kernel_absent:
        # CUDA's runtime reports "too old" also without a driver, but then prints no version
        indirect += [event for event in events.without_later_gpu_use("driver-too-old") if not event.fields]
    cited = [event for event in (*events.without_later_gpu_use(*_DIRECT), *module_failures(events)) if event not in indirect]
    if any(event.fields.get("reason") != "hidden" for event in cited):
        return True
    inferred = (NVML_NO_LIBRARY, NVML_NO_GPU)
    return any(event.fields.get("code") not in inferred for event in events.without_later_gpu_use("nvml-failed"))


def _expects_gpu(events: Events) -> bool:
    """Whether a program or user in this log expects a GPU, for example by listing GPUs."""
    return (
        events.has("driver-absent", "nvml-failed", "placement-failed", "gpu-on-bus", "gpu-found")
        or any(lists_no_gpu(event) for event in events.log.events)
        or any(_ABOUT_A_GPU.search(event.text) for event in events.of("traceback", "import-failed"))
    )
