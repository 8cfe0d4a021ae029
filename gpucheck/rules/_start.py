"""How CUDA's start ended in a pasted log, and the cause that follows from several lines where none of them names it.

TensorFlow, PyTorch and JAX say much the same whether there is no GPU, no driver, no device file, or a GPU that is hidden. What
tells these apart stands in other lines: whether the kernel's half of the driver answered and with which version, whether this
is a container, whether anything names a GPU.
"""

import re
from typing import NamedTuple

from gpucheck.compat.xid import Xid
from gpucheck.model import Fix
from gpucheck.probes.log import CONTAINER, HOST, PLACE, Event, Log, apart
from gpucheck.rules._xid import decoded

NO_DEVICE, NO_LIBRARY, STUB, UNKNOWN = "100", "303", "34", "999"  # CUresult; 303 is what TensorFlow says without libcuda.so.1
NVML_NO_LIBRARY, NVML_NO_GPU = "12", "28"
HIDES_ALL = ("", "-1", "NoDevFiles", "none", "void")  # NoDevFiles: Slurm, for a job without a GPU

# These lines name the cause themselves (some of the NVML results do, too): nothing is to be inferred beside them.
_NAMED = (
    "driver-mismatch",
    "driver-too-old",
    "driver-hung",
    "fabric-not-ready",
    "gpu-lost",
    "gpu-init-failed",
    "gpu-unsupported-by-driver",
    "gpu-absent",
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
_NVML_INFERRED = (NVML_NO_LIBRARY, NVML_NO_GPU)
_OF_THE_DRIVER = re.compile(r"^(?:libcuda\.|nvcuda|libnvidia-ml|nvml\.)")
# nvidia-smi comes with the driver, and what is written in Go (Kubernetes' plugins, the container toolkit) is for nodes that have one
_ON_NODES = re.compile(r"(?i)nvidia-smi|could not load NVML library|\bERROR_LIBRARY_NOT_FOUND\b")
_ABOUT_A_GPU = re.compile(r"(?i)\bgpu|cuda|nvidia|nvml")

# A pasted log does not tell the distribution.
DRIVER_INSTALLS = (
    Fix(text="Ubuntu: install NVIDIA's driver, then restart the machine", command="sudo ubuntu-drivers install"),
    Fix(
        text="Fedora (with RPM Fusion): install NVIDIA's driver, then restart the machine",
        command="sudo dnf install -y akmod-nvidia xorg-x11-drv-nvidia-cuda",
    ),
)
CPU_IS_ENOUGH = Fix(text="If training on the CPU is what you want, ignore it: the job runs without a GPU")
READ_KERNEL_LOG = Fix(text="Read what the kernel says", command='sudo dmesg | grep -i -E "nvrm|xid|nvidia|nouveau" | tail')


class Ending(NamedTuple):
    """Why CUDA has no GPU to offer, as far as a log tells."""

    code: str  # of the rule that names it
    events: list[Event]  # the lines it follows from
    wanted: bool  # whether anything in the log expects a GPU: a machine that has none may be meant so
    kernel: str | None  # version of the loaded kernel module
    host: str | None  # of the container
    result: str | None  # what cuInit answered
    casual: bool  # JAX says so in passing of every backend it tries


def unserved(log: Log, *kinds: str) -> list[Event]:
    """The events of these kinds after which no GPU was used. That training went on proves nothing here: the CPU may do it."""
    used = [event for event in log.events if _uses_gpu(event)]
    return [event for event in log.events if event.kind in kinds and not _withdrawn(event, used)]


def starts(log: Log, *codes: str) -> list[Event]:
    """The times CUDA refused to start, or named one of these results later; without codes, every refusal at the start."""
    found = unserved(log, "cuinit-failed", "cuda-error")
    return [event for event in found if (event.fields.get("code") in codes if codes else event.kind == "cuinit-failed")]


def nvml(log: Log, *codes: str) -> list[Event]:
    """The times NVML gave one of these results, and no table of nvidia-smi followed."""
    shown = [event for event in log.events if _lists_gpus(event)]
    told = unserved(log, "nvml-failed")
    return [event for event in told if event.fields.get("code") in codes and not _withdrawn(event, shown)]


def cut_off(log: Log) -> list[Event]:
    """What fails in a container because its GPUs were taken away, or not given: NVML's "unknown error" there, which means that its
    control group was written anew, any refusal while the host uses its GPUs, or a stub that answers.
    """
    inside = [event for event in log.events if event.fields.get(PLACE) == CONTAINER]
    works = any((_lists_gpus(event) or _uses_gpu(event)) and event.fields.get(PLACE, "").startswith(HOST) for event in log.events)
    refused = [*nvml(log, UNKNOWN), *(nvml(log, "9", NVML_NO_LIBRARY, NVML_NO_GPU) if works else ())]
    refused += starts(log, NO_DEVICE, NO_LIBRARY, UNKNOWN) if works else []
    # images carry a stub of libcuda.so.1, which is what answers where the driver's was not passed in
    refused += [] if any(_lists_gpus(event) for event in inside) else starts(log, STUB)
    refused = [event for event in refused if event in inside and not event.fields.get("device")]
    return [] if unserved(log, *_NAMED) else sorted(refused, key=lambda event: event.line)


def place(event: Event) -> str | None:
    """The GPU that a line names: '0000:3b:00.0' or 'GPU-<uuid>'."""
    return re.sub(r"^(?:PCI:|GPU ?(?=[0-9A-Fa-f]{4,8}:))", "", event.fields.get("device", "")) or None


def xids(log: Log, diagnosis: str) -> list[tuple[Event, Xid]]:
    """The Xid messages that stand for a diagnosis. What programs cause themselves (13, 31, 43, 45) stands for none.

    A line that only names an earlier Xid stands for it no more than that one does.
    """
    mild = {event.fields.get("code") for event in log.events if event.kind == "xid" and "Nonfatal" in event.text}
    told = [event for event in log.events if "revious Xid" not in event.text or event.fields.get("code") not in mild]
    return [(event, known) for event in told if (known := decoded(event, diagnosis)) is not None]


def ending(log: Log) -> Ending | None:
    """The cause that follows from the log as a whole; None where a line names one, or nothing went wrong at the start."""
    absent, on_bus = unserved(log, "kernel-driver-absent"), unserved(log, "gpu-on-bus")
    versions = [event for event in log.events if event.kind in ("driver-version", "driver-versions-agree")]
    kernel = next((value for event in versions if (value := event.fields.get("kernel") or event.fields.get("version"))), None)
    kernel = None if absent else kernel
    hosts = [event for event in log.events if event.kind == "container-host" or event.fields.get("reason") == "hidden"]
    refused = starts(log, NO_DEVICE, UNKNOWN, STUB, NO_LIBRARY)
    refused = [event for event in refused if event.kind == "cuinit-failed" or event.fields["code"] != UNKNOWN]
    result = refused[0].fields["code"] if refused else None
    unfound = without_driver(log)
    no_driver = unserved(log, "driver-absent") if kernel is None else []
    at_work = unserved(log, "gpu-libraries-missing")  # it is said after CUDA has started
    rumours = [] if at_work or refused or versions else unserved(log, "cuda-drivers-not-found")
    empty = nvml(log, NVML_NO_GPU)
    passing = {event.line for event in log.events if event.kind == "backend-unavailable" and event.fields.get("fatal") == "no"}
    nodes = unserved(log, "device-node-missing") if hosts or absent or no_driver else []
    lines = sorted((*refused, *unfound, *no_driver, *rumours, *empty, *nodes), key=lambda event: event.line)
    on_tpu = any(event.kind.startswith("tpu-") for event in log.events) and (result == NO_LIBRARY or bool(rumours))
    if (
        on_tpu
        or not (lines or absent)
        or _named(log, indirect=(*nodes, *(too_old(log) if unfound or no_driver or absent else ())))
    ):
        return None

    lines = cut_off(log) or lines

    def end(code: str, *more: Event) -> Ending:
        told = [*lines[:3], *absent[:1], *more[:1]]
        host = hosts[0].fields.get("host") if hosts else None
        return Ending(
            code, told, _wanted(log), kernel, host, result, bool(lines) and all(event.line in passing for event in lines)
        )

    if cut_off(log):
        return end("container-without-gpu")
    if kernel is not None and (result == NO_LIBRARY or unfound):
        # a container sees its host's /proc, and nvidia-smi may have run on the host
        inside = hosts and not any(event.line > hosts[0].line and event.fields.get("cuda") for event in versions)
        return end("container-without-gpu" if inside else "driver-library-missing", *versions[-1:])
    if result == NO_DEVICE and not (absent or empty):
        return end("no-nvidia-gpu" if kernel is None and _asked_in_vain(log) else "devices-hidden", *versions[-1:])
    if result in (UNKNOWN, STUB) and not (absent or no_driver):
        return None  # cuda-init-failed, cuda-stub-loaded
    if hosts:
        return end("container-without-gpu", *hosts)
    if result == UNKNOWN or not lines:
        return end("driver-not-loaded")
    if result == STUB:
        return end("driver-missing") if no_driver else None
    if on_bus and not (no_driver or unfound or rumours or result == NO_LIBRARY):
        return end("driver-not-loaded", *on_bus)
    if any(_ON_NODES.search(event.text) for event in unfound):
        return end("driver-library-missing")
    if (result or empty) and not (no_driver or on_bus):
        return end("no-nvidia-gpu")
    return end("driver-missing", *on_bus)


def module_failures(log: Log) -> list[Event]:
    """The lines that say why the kernel module is not loaded; nouveau may hold one card while the driver works on another."""
    works = any(
        event.kind == "gpu-driven" or (event.kind == "driver-version" and event.fields.get("cuda")) for event in log.events
    )
    found = unserved(log, "kernel-module-failed")
    if any(event.kind == "gpu-lost" for event in log.events):  # the driver has not taken that one
        found = [event for event in found if "probe routine failed for" not in event.text]
    return [event for event in found if not (works and event.fields.get("reason") == "nouveau")]


def without_driver(log: Log) -> list[Event]:
    """The lines that miss a library of the driver itself."""
    unfound = [event for event in unserved(log, "library-missing") if _OF_THE_DRIVER.match(event.fields.get("soname", ""))]
    return unfound + nvml(log, NVML_NO_LIBRARY)


def too_old(log: Log) -> list[Event]:
    """The lines that call the driver too old without its version: CUDA's runtime says so too where there is none."""
    vague = [event for event in unserved(log, "driver-too-old") if not event.fields]
    return vague + starts(log, "35")


def _named(log: Log, indirect: tuple[Event, ...]) -> bool:
    """Whether some line names a cause itself."""
    named = [
        event
        for event in (*unserved(log, *_NAMED), *module_failures(log))
        if event.fields.get("reason") != "hidden" and event not in indirect
    ]
    return bool(named) or any(event.fields.get("code") not in _NVML_INFERRED for event in unserved(log, "nvml-failed"))


def _withdrawn(event: Event, successes: list[Event]) -> bool:
    """Whether one of the successes comes later, and not in another place."""
    return any(event.line <= success.line and not apart(event, success) for success in successes)


def _lists_gpus(event: Event) -> bool:
    """A table or a list of nvidia-smi."""
    return event.kind == "driver-lists-gpu" or (event.kind == "driver-version" and bool(event.fields.get("cuda")))


def _uses_gpu(event: Event) -> bool:
    if event.kind == "gpus-listed":
        return event.fields.get("count", "0") != "0"
    return event.kind in ("gpu-created", "xla-device")


def _asked_in_vain(log: Log) -> bool:
    """TensorFlow set out to print the versions of the driver, and printed none: on Windows it has no way to."""
    return any(event.kind == "cuda-diagnostics" for event in log.events)


def _wanted(log: Log) -> bool:
    """Whether a program or a person of this log expects a GPU."""
    for event in log.events:
        if event.kind in ("driver-absent", "nvml-failed", "placement-failed", "gpu-on-bus", "gpu-found"):
            return True
        if event.kind == "gpus-listed" and event.fields.get("count") == "0":  # who counts them expects some
            return True
        if event.kind in ("traceback", "import-failed") and _ABOUT_A_GPU.search(event.text):
            return True
    return False
