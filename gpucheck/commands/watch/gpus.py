"""Summarise the GPUs' samples over a whole fit."""

from collections.abc import Sequence

from gpucheck.commands.watch.summary import GpuUse
from gpucheck.core.child.messages.drivers import Sampled, SamplerStarted
from gpucheck.core.compat import nvml


class Gpus:
    """The GPUs that this process may use, by their NVML indexes."""

    def __init__(self) -> None:
        self.known: tuple[int, ...] = ()
        self._totals: dict[int, int | None] = {}
        self._busy: dict[int, list[float]] = {}  # sum and count
        self._slow: dict[int, list[float]] = {}
        self._idle_since: dict[int, float] = {}

    def found(self, started: SamplerStarted, visible: str | None) -> None:
        """Record the GPUs of the machine, and which of them CUDA_VISIBLE_DEVICES names."""
        self.known = shown(visible, started.uuids)
        self._totals = dict(enumerate(started.memory_total_bytes))

    def add(self, moment: Sampled) -> None:
        """Add a sample of every GPU."""
        for index in self.known:
            if index >= len(moment.gpus):
                continue
            sample = moment.gpus[index]
            if (busy := sample.utilization_percent) is not None:
                _count(self._busy.setdefault(index, [0.0, 0.0]), busy)
                if busy:
                    self._idle_since.pop(index, None)
                else:
                    self._idle_since.setdefault(index, moment.seconds)
            if sample.clock_event_reasons is not None:
                _count(self._slow.setdefault(index, [0.0, 0.0]), bool(nvml.harmful_reasons(sample.clock_event_reasons)))

    def idle(self, now: float, least_seconds: float) -> list[int]:
        """Return the GPUs that have been at 0 % for at least ``least_seconds``, if another one is busy."""
        idle = [index for index in self.known if now - self._idle_since.get(index, now) >= least_seconds]
        return idle if any(index in self._busy and index not in self._idle_since for index in self.known) else []

    def uses(self, peaks: Sequence[int | None]) -> tuple[GpuUse, ...]:
        """Return the use of each GPU; ``peaks``: TensorFlow's peak memory in bytes, in the order of ``known``."""
        return tuple(
            GpuUse(
                index=index,
                utilization_percent=_mean(self._busy.get(index)),
                throttled_share=_mean(self._slow.get(index)),
                peak_bytes=peaks[place] if place < len(peaks) else None,
                total_bytes=self._totals.get(index),
            )
            for place, index in enumerate(self.known)
        )


def shown(visible: str | None, uuids: Sequence[str | None]) -> tuple[int, ...]:
    """Return the NVML indexes of the GPUs that CUDA_VISIBLE_DEVICES names, up to the first invalid one; all if it is unset."""
    if visible is None:
        return tuple(range(len(uuids)))
    numbers: list[int] = []
    for entry in map(str.strip, visible.split(",")):
        named = (index for index, uuid in enumerate(uuids) if entry and uuid and uuid.startswith(entry))
        index = int(entry) if entry.isdigit() else next(named, -1)
        if not 0 <= index < len(uuids):
            break
        numbers.append(index)
    return tuple(numbers)


def _count(sums: list[float], value: float) -> None:
    sums[0] += value
    sums[1] += 1


def _mean(sums: list[float] | None) -> float | None:
    return sums[0] / sums[1] if sums else None
