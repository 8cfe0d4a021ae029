"""Queries for a log's events by kind and by later events: a warning before a success is ignored."""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Protocol, TypeVar, cast

from gpucheck.core.logs.events import Event, in_different_places
from gpucheck.core.logs.log import Log, unresolved

Inferred = TypeVar("Inferred")


class _Coded(Protocol):
    @property
    def code(self) -> str: ...


OfCode = TypeVar("OfCode", bound=_Coded)  # an inference that names a rule


class Later(Enum):
    """A later success in a log that cancels an event."""

    NOTHING = "nothing"
    TRAINING = "training"  # training continued
    GPU_USE = "gpu use"  # a GPU was used; training alone may use the CPU


class Events:
    """The events of one log."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self._unresolved: dict[Later, list[Event]] = {Later.NOTHING: list(log.events)}
        self._inferred: dict[Callable[..., Any], Any] = {}

    def of(self, *kinds: str, **fields: str) -> list[Event]:
        """Return the events of these kinds, resolved or not; a field's pattern must match the whole value, see ``has_fields``."""
        return [event for event in self.log.events if event.kind in kinds and has_fields(event, fields)]

    def has(self, *kinds: str) -> bool:
        """Whether there is any event of these kinds."""
        return any(event.kind in kinds for event in self.log.events)

    def unresolved(self, *kinds: str, **fields: str) -> list[Event]:
        """Return the events of these kinds after which training did not continue."""
        return [event for event in self.without_later(Later.TRAINING) if event.kind in kinds and has_fields(event, fields)]

    def without_later_gpu_use(self, *kinds: str, **fields: str) -> list[Event]:
        """Return the events of these kinds after which no GPU was used."""
        return [event for event in self.without_later(Later.GPU_USE) if event.kind in kinds and has_fields(event, fields)]

    def without_later(self, later: Later) -> list[Event]:
        """Return the events that are not followed by this kind of success."""
        if later not in self._unresolved:
            unresolved_events = [event for _, event in unresolved(self.log)]
            self._unresolved[later] = unresolved_events if later is Later.TRAINING else _without_later_gpu_use(self.log.events)
        return self._unresolved[later]

    def infer(self, inference: "Callable[[Events], Inferred]") -> Inferred:
        """Return the result of an inference from these events, computed once."""
        if inference not in self._inferred:
            self._inferred[inference] = inference(self)
        return cast(Inferred, self._inferred[inference])

    def inferred(self, inference: "Callable[[Events], OfCode | None]", code: str) -> OfCode | None:
        """Return the result of an inference if it has this code."""
        found = self.infer(inference)
        return found if found is not None and found.code == code else None

    def cuda_refusals(self, *codes: int | str) -> list[Event]:
        """Return CUDA's failures with these results, in its initialization or later; without codes, all in its initialization."""
        refusals, results = self.without_later_gpu_use("cuinit-failed", "cuda-error"), set(map(str, codes))
        return [event for event in refusals if (event.fields.get("code") in results if codes else event.kind == "cuinit-failed")]

    def nvml_refusals(self, *codes: int | str) -> list[Event]:
        """Return failures of NVML with these results, unless nvidia-smi listed a GPU afterwards."""
        listed, results = [event for event in self.log.events if lists_gpus(event)], set(map(str, codes))
        failed = [event for event in self.without_later_gpu_use("nvml-failed") if event.fields.get("code") in results]
        return [event for event in failed if not _followed(event, listed)]


def has_fields(event: Event, fields: Mapping[str, str]) -> bool:
    """Whether each pattern matches the whole value of its field; "" matches a missing field."""
    return all(re.fullmatch(pattern, event.fields.get(name, "")) for name, pattern in fields.items())


def lists_gpus(event: Event) -> bool:
    """Whether the event is a table or a list from nvidia-smi."""
    return event.kind == "driver-lists-gpu" or (event.kind == "driver-version" and bool(event.fields.get("cuda")))


def uses_gpu(event: Event) -> bool:
    """Whether the event shows that a framework has a GPU."""
    if event.kind == "gpus-listed":
        return event.fields.get("count", "0") != "0"
    return event.kind in ("gpu-created", "xla-device")


def lists_no_gpu(event: Event) -> bool:
    """Whether the event shows that a framework lists no GPU."""
    return event.kind == "gpus-listed" and event.fields.get("count", "0") == "0"


def in_order(*events: Event) -> list[Event]:
    """Return the events in the order of their lines, each line once."""
    return sorted({event.line: event for event in reversed(events)}.values(), key=lambda event: event.line)


def values(events: list[Event], *fields: str) -> list[str]:
    """Return the events' values of these fields, each value once."""
    return list(dict.fromkeys(event.fields[name] for event in events for name in fields if event.fields.get(name)))


def first_value(events: list[Event], field: str) -> str | None:
    """Return the first value that any of the events has for a field."""
    return next(iter(values(events, field)), None)


def _without_later_gpu_use(events: tuple[Event, ...]) -> list[Event]:
    used = [event for event in events if uses_gpu(event)]
    return [event for event in events if not _followed(event, used)]


def _followed(event: Event, successes: list[Event]) -> bool:
    """Whether one of the successes comes later in the same place."""
    return any(event.line <= success.line and not in_different_places(event, success) for success in successes)
