"""Lines that look bad and are not, each with the reason; and failures after which training went on."""

from collections.abc import Iterable

from gpucheck.core.logs.events import Event, Kind
from gpucheck.core.logs.reading import patterns

KIND = Kind.HARMLESS
PATTERNS = patterns.load(["harmless"])

# Failures that training went on after, and what to make of them then.
_RESOLVED = {
    Kind.KERNELS_JIT_COMPILED: "The driver compiled the kernels, and training went on.",
    Kind.PTXAS_MISSING: "The driver compiled in place of ptxas, and training went on.",
    Kind.LIBDEVICE_MISSING: "Training went on without it.",
    Kind.CUINIT_FAILED: "Training went on, on the CPU: nothing is wrong if the machine has no GPU.",
    Kind.CUDA_DRIVERS_NOT_FOUND: "Training went on, on the CPU: nothing is wrong if the machine has no GPU.",
}


def resolved_by_training(events: Iterable[Event]) -> list[Event]:
    """The failures among these events after which training went on, as harmless events."""
    listed = list(events)
    last = max((event.line for event in listed if event.kind == Kind.TRAINING_PROGRESS), default=0)
    return [
        Event(kind=KIND, line=event.line, text=event.text, fields={"reason": _RESOLVED[event.kind]})
        for event in listed
        if event.line < last and event.kind in _RESOLVED
    ]
