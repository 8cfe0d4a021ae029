"""Keep a bounded number of a log's events of each kind, with the place that printed them."""

from collections.abc import Iterable

from gpucheck.core.logs.events import HOST, PLACE, Event

KEPT = 32  # first events of a kind; the last one is kept in addition
_SAME = 2  # kept events of a kind with the same fields
_FREE_TEXT = {"message", "bytes", "call", "error"}  # fields that do not distinguish events

SUSPECTS = 8
LOOKS = ("exception", "fatal", "error", "failure")  # types of suspects, the most relevant first

# Kinds that depend on the place; other events have no place.
_PLACED = {
    "cuda-drivers-not-found",
    "cuinit-failed",
    "driver-absent",
    "driver-lists-gpu",
    "driver-version",
    "gpu-created",
    "gpu-libraries-missing",
    "gpus-listed",
    "library-missing",
    "nvml-failed",
}

# Failures that are harmless if training continued, with the reason.
_RESOLVED = {
    "kernels-jit-compiled": "The driver compiled the kernels, and training continued.",
    "ptxas-missing": "The driver compiled instead of ptxas, and training continued.",
    "libdevice-missing": "Training continued without it.",
    "cuinit-failed": "Training continued on the CPU: this is expected if the machine has no GPU.",
    "cuda-drivers-not-found": "Training continued on the CPU: this is expected if the machine has no GPU.",
}


class OfKind:
    """The kept events of one kind: the first ones, fewer of those with the same fields, and the last."""

    def __init__(self) -> None:
        """Start empty."""
        self.first: list[Event] = []
        self.last: Event | None = None
        self._counts: dict[tuple[tuple[str, str], ...], int] = {}

    def add(self, event: Event) -> None:
        """Add an event."""
        key = tuple(sorted(item for item in event.fields.items() if item[0] not in _FREE_TEXT))
        count = self._counts.get(key, 0)
        if count < _SAME and len(self.first) < KEPT:
            self._counts[key] = count + 1
            self.first.append(event)
        elif self.last is None or event.line > self.last.line:
            self.last = event


class Suspects:
    """The few most relevant lines that look like failures: the earliest of each type, and the last exception."""

    def __init__(self) -> None:
        """Start empty."""
        self._best: dict[str, tuple[int, Event]] = {}
        self._last: tuple[str, Event] | None = None

    def add(self, event: Event, shape: str) -> None:
        """Add a line; ``shape`` is equal for lines with the same message."""
        rank = LOOKS.index(event.fields["looks"])
        if rank == 0 and (self._last is None or event.line > self._last[1].line):
            self._last = shape, event
        if shape in self._best:
            return
        self._best[shape] = rank, event
        if len(self._best) > 4 * SUSPECTS:
            self._best = dict(self._sorted()[:SUSPECTS])

    def best(self) -> tuple[Event, ...]:
        """Return at most ``SUSPECTS`` lines, the most relevant first."""
        best = self._sorted()[:SUSPECTS]
        if self._last is not None and self._last[0] not in dict(best):
            best[-1] = self._last[0], (0, self._last[1])
        return tuple(event for _, (_, event) in best)

    def _sorted(self) -> list[tuple[str, tuple[int, Event]]]:
        return sorted(self._best.items(), key=lambda entry: (entry[1][0], entry[1][1].line))


class Origin:
    """The place that printed the current lines: a container, or the host that runs it.

    Pasted logs often compare the two ("inside the container it fails, on the host it works"); success in one does not
    resolve failures in the other.
    """

    def __init__(self) -> None:
        """Start with an unknown place."""
        self._default_place = self._now = ""

    def update(self, fields: dict[str, str]) -> None:
        """Update the place from a line's fields."""
        if "until" in fields:
            self._default_place = self._default_place or HOST  # a command that enters a container runs outside of it
            self._now = fields["where"]
        elif fields["where"]:
            self._default_place = self._now = fields["where"]
        else:  # a prompt without a place: the place before the last command
            self._now = self._default_place

    def stamp(self, kind: str, fields: dict[str, str]) -> dict[str, str]:
        """Return the fields of an event, with its place if it is known and the kind depends on it."""
        return {**fields, PLACE: self._now} if self._now and kind in _PLACED else fields


def resolved_by_training(events: Iterable[Event]) -> list[Event]:
    """Return the failures after which training continued, as harmless events."""
    listed = list(events)
    last = max((event.line for event in listed if event.kind == "training-progress"), default=0)
    return [
        Event(kind="harmless", line=event.line, text=event.text, fields={"reason": _RESOLVED[event.kind]})
        for event in listed
        if event.line < last and event.kind in _RESOLVED
    ]
