"""What is kept of a log's events, a bounded number of each kind, with the place where their lines were printed."""

from collections.abc import Iterable

from gpucheck.core.logs.events import HOST, PLACE, Event, Kind

KEPT = 32  # events of a kind, from its first on; its last one comes on top
_SAME = 2  # events of a kind about the same thing that are kept
_FREE_TEXT = {"message", "bytes", "call", "error"}  # fields that do not tell two events apart

SUSPECTS = 8
LOOKS = ("exception", "fatal", "error", "failure")  # what a suspect looks like, the most telling first

# What is different in two places; other events carry no place.
_PLACED = {
    Kind.CUDA_DRIVERS_NOT_FOUND,
    Kind.CUINIT_FAILED,
    Kind.DRIVER_ABSENT,
    Kind.DRIVER_LISTS_GPU,
    Kind.DRIVER_VERSION,
    Kind.GPU_CREATED,
    Kind.GPU_LIBRARIES_MISSING,
    Kind.GPUS_LISTED,
    Kind.LIBRARY_MISSING,
    Kind.NVML_FAILED,
}

# Failures that training went on after, and what to make of them then.
_RESOLVED = {
    Kind.KERNELS_JIT_COMPILED: "The driver compiled the kernels, and training went on.",
    Kind.PTXAS_MISSING: "The driver compiled in place of ptxas, and training went on.",
    Kind.LIBDEVICE_MISSING: "Training went on without it.",
    Kind.CUINIT_FAILED: "Training went on, on the CPU: nothing is wrong if the machine has no GPU.",
    Kind.CUDA_DRIVERS_NOT_FOUND: "Training went on, on the CPU: nothing is wrong if the machine has no GPU.",
}


class OfKind:
    """The events kept of one kind: the first ones, of those about the same thing fewer, and the last."""

    def __init__(self) -> None:
        """Nothing was kept."""
        self.first: list[Event] = []
        self.last: Event | None = None
        self._counts: dict[tuple[tuple[str, str], ...], int] = {}

    def add(self, event: Event) -> None:
        """Take an event in."""
        key = tuple(sorted(item for item in event.fields.items() if item[0] not in _FREE_TEXT))
        count = self._counts.get(key, 0)
        if count < _SAME and len(self.first) < KEPT:
            self._counts[key] = count + 1
            self.first.append(event)
        elif self.last is None or event.line > self.last.line:
            self.last = event


class Suspects:
    """The few most telling lines that look like failures: the earliest of equal ones, and the last exception."""

    def __init__(self) -> None:
        """Nothing was kept."""
        self._best: dict[str, tuple[int, Event]] = {}
        self._last: tuple[str, Event] | None = None

    def add(self, event: Event, shape: str) -> None:
        """Take a line in; ``shape`` is what lines that say the same have in common."""
        rank = LOOKS.index(event.fields["looks"])
        if rank == 0 and (self._last is None or event.line > self._last[1].line):
            self._last = shape, event
        if shape in self._best:
            return
        self._best[shape] = rank, event
        if len(self._best) > 4 * SUSPECTS:
            self._best = dict(self._sorted()[:SUSPECTS])

    def best(self) -> tuple[Event, ...]:
        """At most ``SUSPECTS``, the most telling first."""
        best = self._sorted()[:SUSPECTS]
        if self._last is not None and self._last[0] not in dict(best):
            best[-1] = self._last[0], (0, self._last[1])
        return tuple(event for _, (_, event) in best)

    def _sorted(self) -> list[tuple[str, tuple[int, Event]]]:
        return sorted(self._best.items(), key=lambda entry: (entry[1][0], entry[1][1].line))


class Origin:
    """Where the lines being read were printed: in a container, or on the machine that runs it.

    A person compares the two ("inside the container it fails, on the host it works"), and what one of them does well proves
    nothing of the other.
    """

    def __init__(self) -> None:
        """Nothing said so."""
        self._stays = self._now = ""

    def update(self, fields: dict[str, str]) -> None:
        """Take in what a line says of it."""
        if "until" in fields:
            self._stays = self._stays or HOST  # who enters a container is outside of it
            self._now = fields["where"]
        elif fields["where"]:
            self._stays = self._now = fields["where"]
        else:  # a prompt that does not say where it is: where the last one was, before a command of its own
            self._now = self._stays

    def stamp(self, kind: Kind, fields: dict[str, str]) -> dict[str, str]:
        """The fields of an event, with its place if that is known and matters."""
        return {**fields, PLACE: self._now} if self._now and kind in _PLACED else fields


def resolved_by_training(events: Iterable[Event]) -> list[Event]:
    """The failures among these events after which training went on, as harmless events."""
    listed = list(events)
    last = max((event.line for event in listed if event.kind == Kind.TRAINING_PROGRESS), default=0)
    return [
        Event(kind=Kind.HARMLESS, line=event.line, text=event.text, fields={"reason": _RESOLVED[event.kind]})
        for event in listed
        if event.line < last and event.kind in _RESOLVED
    ]
