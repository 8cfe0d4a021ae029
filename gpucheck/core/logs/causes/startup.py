"""How CUDA's start failed, where that follows from several lines and no single one names it.

TensorFlow, PyTorch and JAX say much the same whether there is no GPU, no driver, no device file, or a GPU that is hidden. What
tells these apart stands in other lines: whether the kernel's half of the driver answered and with which version, whether this
is a container, whether anything names a GPU.
"""

import re
from typing import NamedTuple

from gpucheck.core.logs.causes.events import Events, in_order, lists_gpus, lists_no_gpu, uses_gpu
from gpucheck.core.logs.events import CONTAINER, HOST, PLACE, Event, Kind

NO_DEVICE, NO_LIBRARY, STUB, UNKNOWN = "100", "303", "34", "999"  # CUresult; 303 is what TensorFlow says without libcuda.so.1
NVML_NO_LIBRARY, NVML_NO_GPU, NVML_UNKNOWN = "12", "28", "999"

# These lines name the cause themselves (some of the NVML results do, too): nothing is to be inferred beside them.
_DIRECT = (
    Kind.DRIVER_MISMATCH,
    Kind.DRIVER_TOO_OLD,
    Kind.DRIVER_HUNG,
    Kind.FABRIC_NOT_READY,
    Kind.GPU_LOST,
    Kind.GPU_INIT_FAILED,
    Kind.GPU_ABSENT,
    Kind.GPU_UNSUPPORTED_BY_DRIVER,
    Kind.WSL,
    Kind.CONTAINER_GPU_DENIED,
    Kind.DEVICE_DENIED,
    Kind.DEVICE_NODE_MISSING,
    Kind.MIG_FAILED,
    Kind.CUDA_USED_AFTER_FORK,
    Kind.WINDOWS_NATIVE,
    Kind.MACOS,
    Kind.ROCM,
)
_OF_THE_DRIVER = re.compile(r"^(?:libcuda\.|nvcuda|libnvidia-ml|nvml\.)")
# nvidia-smi comes with the driver, and what is written in Go (Kubernetes' plugins, the container toolkit) is for nodes that have one
_ON_NODES = re.compile(r"(?i)nvidia-smi|could not load NVML library|\bERROR_LIBRARY_NOT_FOUND\b")
_ABOUT_A_GPU = re.compile(r"(?i)\bgpu|cuda|nvidia|nvml")


class StartupFailure(NamedTuple):
    """Why CUDA has no GPU to offer, as far as a log tells."""

    code: str  # of the rule that is about it
    events: list[Event]  # the lines it follows from
    wanted: bool  # whether anything in the log expects a GPU: a machine that has none may be meant so
    kernel: str | None  # version of the loaded kernel module
    host: str | None  # name of the container
    result: str | None  # what cuInit answered
    in_passing: bool  # JAX says so of every backend it tries


class _Signs:
    """What a log says about the start of CUDA."""

    def __init__(self, events: Events) -> None:
        self.kernel_absent = events.without_later_gpu_use(Kind.KERNEL_DRIVER_ABSENT)
        self.on_bus = events.without_later_gpu_use(Kind.GPU_ON_BUS)
        self.versions = events.of(Kind.DRIVER_VERSION, Kind.DRIVER_VERSIONS_AGREE)
        kernel = next((value for event in self.versions if (value := _kernel(event))), None)
        self.kernel = None if self.kernel_absent else kernel
        self.containers = [event for event in events.log.events if _is_container(event)]
        # a container sees its host's /proc, and nvidia-smi may have run on the host
        entered = self.containers[0].line if self.containers else 0
        self.inside = bool(entered) and not any(lists_gpus(event) and event.line > entered for event in self.versions)
        refused = events.cuda_refusals(NO_DEVICE, UNKNOWN, STUB, NO_LIBRARY)
        self.refused = [event for event in refused if event.kind == Kind.CUINIT_FAILED or event.fields["code"] != UNKNOWN]
        self.result = self.refused[0].fields["code"] if self.refused else None
        self.no_library = missing_driver_libraries(events)
        self.no_driver = events.without_later_gpu_use(Kind.DRIVER_ABSENT) if self.kernel is None else []
        started = events.without_later_gpu_use(Kind.GPU_LIBRARIES_MISSING)  # it is said after CUDA has started
        evidence_of_driver = started or self.refused or self.versions
        self.not_found = [] if evidence_of_driver else events.without_later_gpu_use(Kind.CUDA_DRIVERS_NOT_FOUND)
        self.no_gpu = events.nvml_refusals(NVML_NO_GPU)
        nodes = self.containers or self.kernel_absent or self.no_driver
        self.no_nodes = events.without_later_gpu_use(Kind.DEVICE_NODE_MISSING) if nodes else []
        self.lines = in_order(*self.refused, *self.no_library, *self.no_driver, *self.not_found, *self.no_gpu, *self.no_nodes)


def infer_startup_failure(events: Events) -> StartupFailure | None:
    """The cause that follows from the log as a whole; None where a line names one, or nothing went wrong at the start."""
    signs = _Signs(events)
    if not (signs.lines or signs.kernel_absent) or _is_named(events, signs) or _on_tpu(events, signs):
        return None
    taken = taken_from_container(events)
    lines = taken or signs.lines
    code, support = ("container-without-gpu", []) if taken else _code(events, signs)
    if code is None:
        return None
    passing = {event.line for event in events.of(Kind.BACKEND_UNAVAILABLE, fatal="no")}
    return StartupFailure(
        code,
        [*lines[:3], *signs.kernel_absent[:1], *support[:1]],
        _wanted(events),
        signs.kernel,
        signs.containers[0].fields.get("host") if signs.containers else None,
        signs.result,
        bool(lines) and all(event.line in passing for event in lines),
    )


def _code(events: Events, signs: _Signs) -> tuple[str | None, list[Event]]:
    """The cause and the line that decides it; None where CUDA's own answer is all that is known."""
    if signs.kernel is not None and (signs.result == NO_LIBRARY or signs.no_library):
        return "container-without-gpu" if signs.inside else "driver-library-missing", signs.versions[-1:]
    if signs.result == NO_DEVICE and not (signs.kernel_absent or signs.no_gpu):
        # TensorFlow set out to print the versions of the driver, and printed none: on Windows it has no way to
        none = signs.kernel is None and events.has(Kind.CUDA_DIAGNOSTICS)
        return "no-nvidia-gpu" if none else "devices-hidden", signs.versions[-1:]
    if signs.result in (UNKNOWN, STUB) and not (signs.kernel_absent or signs.no_driver):
        return None, []
    if signs.containers:
        return "container-without-gpu", signs.containers
    return _code_outside(signs)


def _code_outside(signs: _Signs) -> tuple[str | None, list[Event]]:
    """Of what is no container, and has no kernel driver that answers."""
    if signs.result == UNKNOWN or not signs.lines:
        return "driver-not-loaded", []
    if signs.result == STUB:
        return "driver-missing" if signs.no_driver else None, []
    if signs.on_bus and not (signs.no_driver or signs.no_library or signs.not_found or signs.result == NO_LIBRARY):
        return "driver-not-loaded", signs.on_bus
    if any(_ON_NODES.search(event.text) for event in signs.no_library):
        return "driver-library-missing", []
    if (signs.result or signs.no_gpu) and not (signs.no_driver or signs.on_bus):
        return "no-nvidia-gpu", []
    return "driver-missing", signs.on_bus


def taken_from_container(events: Events) -> list[Event]:
    """What fails in a container because its GPUs were taken away, or not given.

    NVML's "unknown error" there, which means that its control group was written anew, any refusal while the host uses its
    GPUs, or a stub that answers.
    """
    inside = [event for event in events.log.events if event.fields.get(PLACE) == CONTAINER]
    if not inside or events.without_later_gpu_use(*_DIRECT):
        return []
    outside = [event for event in events.log.events if event.fields.get(PLACE, "").startswith(HOST)]
    refused = events.nvml_refusals(NVML_UNKNOWN)
    if any(lists_gpus(event) or uses_gpu(event) for event in outside):
        refused += events.nvml_refusals("9", NVML_NO_LIBRARY, NVML_NO_GPU)
        refused += events.cuda_refusals(NO_DEVICE, NO_LIBRARY, UNKNOWN)
    # images carry a stub of libcuda.so.1, which is what answers where the driver's was not passed in
    refused += [] if any(lists_gpus(event) for event in inside) else events.cuda_refusals(STUB)
    return in_order(*(event for event in refused if event in inside and not event.fields.get("device")))


def module_failures(events: Events) -> list[Event]:
    """The lines that say why the kernel module is not loaded; nouveau may hold one card while the driver works on another."""
    works = events.has(Kind.GPU_DRIVEN) or events.of(Kind.DRIVER_VERSION, cuda=".+")
    failures = events.without_later_gpu_use(Kind.KERNEL_MODULE_FAILED)
    if events.has(Kind.GPU_LOST):  # the driver has not taken that one
        failures = [event for event in failures if "probe routine failed for" not in event.text]
    return [event for event in failures if not (works and event.fields.get("reason") == "nouveau")]


def missing_driver_libraries(events: Events) -> list[Event]:
    """The lines that miss a library of the driver itself."""
    missing = events.without_later_gpu_use(Kind.LIBRARY_MISSING)
    missing = [event for event in missing if _OF_THE_DRIVER.match(event.fields.get("soname", ""))]
    return missing + events.nvml_refusals(NVML_NO_LIBRARY)


def _kernel(event: Event) -> str | None:
    return event.fields.get("kernel") or event.fields.get("version")


def _is_container(event: Event) -> bool:
    return event.kind == Kind.CONTAINER_HOST or event.fields.get("reason") == "hidden"


def _on_tpu(events: Events, signs: _Signs) -> bool:
    """Whether a program on a TPU says in passing that there is no GPU."""
    on_tpu = any(event.kind.startswith("tpu-") for event in events.log.events)
    return on_tpu and (signs.result == NO_LIBRARY or bool(signs.not_found))


def _is_named(events: Events, signs: _Signs) -> bool:
    """Whether some line names a cause itself."""
    indirect = list(signs.no_nodes)
    if signs.no_library or signs.no_driver or signs.kernel_absent:
        # CUDA's runtime calls the driver too old where there is none, too; a version would tell
        indirect += [event for event in events.without_later_gpu_use(Kind.DRIVER_TOO_OLD) if not event.fields]
    named = [event for event in (*events.without_later_gpu_use(*_DIRECT), *module_failures(events)) if event not in indirect]
    if any(event.fields.get("reason") != "hidden" for event in named):
        return True
    inferred = (NVML_NO_LIBRARY, NVML_NO_GPU)
    return any(event.fields.get("code") not in inferred for event in events.without_later_gpu_use(Kind.NVML_FAILED))


def _wanted(events: Events) -> bool:
    """Whether a program or a person of this log expects a GPU; who counts the GPUs does."""
    return (
        events.has(Kind.DRIVER_ABSENT, Kind.NVML_FAILED, Kind.PLACEMENT_FAILED, Kind.GPU_ON_BUS, Kind.GPU_FOUND)
        or any(lists_no_gpu(event) for event in events.log.events)
        or any(_ABOUT_A_GPU.search(event.text) for event in events.of(Kind.TRACEBACK, Kind.IMPORT_FAILED))
    )
