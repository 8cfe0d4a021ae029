"""The events of a log, asked for by kind and by what came after them: an alarm before success means nothing."""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Protocol, TypeVar, cast

from gpucheck.core.logs.events import Event, Kind, in_different_places
from gpucheck.core.logs.log import Log, unresolved

Inferred = TypeVar("Inferred")


class _Coded(Protocol):
    @property
    def code(self) -> str: ...


OfCode = TypeVar("OfCode", bound=_Coded)  # an inference that names a rule


class Later(Enum):
    """What may come later in a log and show that an event means nothing."""

    NOTHING = "nothing"
    TRAINING = "training"  # it went on
    GPU_USE = "gpu use"  # that training went on proves nothing here: the CPU may do it


class Events:
    """The events of one log."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self._standing: dict[Later, list[Event]] = {Later.NOTHING: list(log.events)}
        self._inferred: dict[Callable[..., Any], Any] = {}

    def of(self, *kinds: Kind, **fields: str) -> list[Event]:
        """The events of these kinds, whatever came after them; a field's pattern is for all of its value, as in ``has_fields``."""
        return [event for event in self.log.events if event.kind in kinds and has_fields(event, fields)]

    def has(self, *kinds: Kind) -> bool:
        """Whether there is any event of these kinds."""
        return any(event.kind in kinds for event in self.log.events)

    def unresolved(self, *kinds: Kind, **fields: str) -> list[Event]:
        """The events of these kinds after which training did not go on."""
        return [event for event in self.not_withdrawn(Later.TRAINING) if event.kind in kinds and has_fields(event, fields)]

    def without_later_gpu_use(self, *kinds: Kind, **fields: str) -> list[Event]:
        """The events of these kinds after which no GPU was used."""
        return [event for event in self.not_withdrawn(Later.GPU_USE) if event.kind in kinds and has_fields(event, fields)]

    def not_withdrawn(self, later: Later) -> list[Event]:
        """The events that nothing of that sort follows."""
        if later not in self._standing:
            lasting = [event for _, event in unresolved(self.log)]
            self._standing[later] = lasting if later is Later.TRAINING else _without_later_gpu_use(self.log.events)
        return self._standing[later]

    def infer(self, inference: "Callable[[Events], Inferred]") -> Inferred:
        """What follows from several of these events; inferred once."""
        if inference not in self._inferred:
            self._inferred[inference] = inference(self)
        return cast(Inferred, self._inferred[inference])

    def inferred(self, inference: "Callable[[Events], OfCode | None]", code: str) -> OfCode | None:
        """What is inferred, if it is of that code."""
        found = self.infer(inference)
        return found if found is not None and found.code == code else None

    def cuda_refusals(self, *codes: str) -> list[Event]:
        """The times CUDA refused to start, or named one of these results later; without codes, every refusal at the start."""
        refusals = self.without_later_gpu_use(Kind.CUINIT_FAILED, Kind.CUDA_ERROR)
        return [event for event in refusals if (event.fields.get("code") in codes if codes else event.kind == Kind.CUINIT_FAILED)]

    def nvml_refusals(self, *codes: str) -> list[Event]:
        """The times NVML gave one of these results, and nvidia-smi listed no GPU afterwards."""
        listed = [event for event in self.log.events if lists_gpus(event)]
        failed = [event for event in self.without_later_gpu_use(Kind.NVML_FAILED) if event.fields.get("code") in codes]
        return [event for event in failed if not _followed(event, listed)]


def has_fields(event: Event, fields: Mapping[str, str]) -> bool:
    """Whether a pattern for each field fits all of its value; "" fits a field that is not there."""
    return all(re.fullmatch(pattern, event.fields.get(name, "")) for name, pattern in fields.items())


def lists_gpus(event: Event) -> bool:
    """A table or a list of nvidia-smi."""
    return event.kind == Kind.DRIVER_LISTS_GPU or (event.kind == Kind.DRIVER_VERSION and bool(event.fields.get("cuda")))


def uses_gpu(event: Event) -> bool:
    """A framework has a GPU."""
    if event.kind == Kind.GPUS_LISTED:
        return event.fields.get("count", "0") != "0"
    return event.kind in (Kind.GPU_CREATED, Kind.XLA_DEVICE)


def lists_no_gpu(event: Event) -> bool:
    """A framework counts its GPUs, and has none."""
    return event.kind == Kind.GPUS_LISTED and event.fields.get("count", "0") == "0"


def in_order(*events: Event) -> list[Event]:
    """The events in the order of their lines, each line once."""
    return sorted({event.line: event for event in reversed(events)}.values(), key=lambda event: event.line)


def values(events: list[Event], *fields: str) -> list[str]:
    """What the events have in these fields, each value once."""
    return list(dict.fromkeys(event.fields[name] for event in events for name in fields if event.fields.get(name)))


def first_value(events: list[Event], field: str) -> str | None:
    """The first value that any of the events has for a field."""
    return next(iter(values(events, field)), None)


def _without_later_gpu_use(events: tuple[Event, ...]) -> list[Event]:
    used = [event for event in events if uses_gpu(event)]
    return [event for event in events if not _followed(event, used)]


def _followed(event: Event, successes: list[Event]) -> bool:
    """Whether one of the successes comes later, and not in another place."""
    return any(event.line <= success.line and not in_different_places(event, success) for success in successes)
