"""The scaling efficiency of training on several devices, and where the lost time goes."""

import msgspec

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.model import Evidence, Fact, TrainingRun, combiner, saw
from gpucheck.core.model.thresholds import SCALING_EFFICIENCY_EXPECTED
from gpucheck.core.probes.training import Training

_GAIN = 0.1  # of the efficiency with a doubled batch, larger than the noise of repeated measurements
_FIGURES = (
    "all_devices_step_seconds",
    "all_devices_repeated_batch_step_seconds",
    "one_device_step_seconds",
    "one_device_repeated_batch_step_seconds",
    "gradient_all_reduce_seconds",
)


class LostTime(msgspec.Struct, frozen=True):
    """The extra seconds of a step on several devices over a step on one, and the parts that were measured separately."""

    seconds: float
    exchange: float  # summing all gradients over the devices
    waiting: float  # for the input pipeline, in addition to one device's wait
    bandwidth: float | None  # bytes per second of a large sum over the devices
    evidence: tuple[Evidence, ...]

    @property
    def cause(self) -> str | None:
        """The part that is at least half of it: "exchange", "input", or None."""
        if self.waiting >= self.seconds / 2:
            return "input"
        return "exchange" if self.exchange >= self.seconds / 2 else None


class Links(msgspec.Struct, frozen=True):
    """How GPUs are connected."""

    name: str  # "NVLink", "PCIe 4.0 with 16 lanes, without NVLink,"
    nvlink: bool  # between all of them
    evidence: tuple[Evidence, ...]


class ScaledRun(msgspec.Struct, frozen=True):
    """A run on several accelerators whose scaling efficiency was measured."""

    place: int  # index in ``Training.runs``
    run: TrainingRun
    efficiency: float
    lost: LostTime | None  # from the experiment "scaling"; None: not measured, or none is lost
    links: Links | None  # the slowest between its GPUs; None: not reported by NVML

    @property
    def larger_batch_helps(self) -> bool:
        """Whether a doubled batch clearly improves the efficiency."""
        doubled = self.run.doubled_batch_scaling_efficiency
        return doubled is not None and doubled >= self.efficiency + _GAIN


class Scaling(Fact, frozen=True, kw_only=True):
    """The efficiency of training on several accelerators."""

    several: bool  # several accelerators trained together
    measured: tuple[ScaledRun, ...]

    @property
    def inefficient(self) -> list[ScaledRun]:
        """The runs below the expected efficiency."""
        return [scaled for scaled in self.measured if scaled.efficiency < SCALING_EFFICIENCY_EXPECTED]


@combiner
def combine(training: Training, outcomes: TrainingOutcomes, used: GpusInUse | None) -> Scaling:
    """Compute the efficiency of each run; logical CPU devices share cores and are ignored."""
    together = [
        (place, run)
        for place, run in enumerate(training.runs)
        if run.status == "passed" and len(run.devices) > 1 and not any("CPU" in device for device in run.devices)
    ]
    measured = tuple(
        ScaledRun(place, run, run.scaling_efficiency, _lost_time(outcomes, run), _links(run, used))
        for place, run in together
        if run.scaling_efficiency is not None
    )
    return Scaling(several=bool(together), measured=measured)


def _lost_time(outcomes: TrainingOutcomes, run: TrainingRun) -> LostTime | None:
    place, figures = outcomes.figures("scaling", run.devices)
    step, repeated, alone, one_repeated, exchange = (figures.get(name) for name in _FIGURES)
    if step is None or repeated is None or alone is None or one_repeated is None or exchange is None or step <= alone:
        return None
    return LostTime(
        seconds=step - alone,
        exchange=min(exchange, step - alone),
        waiting=min(max(0.0, (step - repeated) - (alone - one_repeated)), step - alone),
        bandwidth=figures.get("large_all_reduce_bytes_per_second"),
        evidence=outcomes.saw_figures(place, *_FIGURES),
    )


def _links(run: TrainingRun, used: GpusInUse | None) -> Links | None:
    places = [(place, gpu) for place, gpu in used.used if used.device_name(gpu) in run.devices] if used is not None else []
    if used is None or len(places) < 2:
        return None
    active, fewest = min((sum(link.active for link in gpu.nvlinks), place) for place, gpu in places)
    nvlinks = saw(used.gpus, f"gpus[{fewest}].nvlinks")
    if active:
        return Links("NVLink", True, nvlinks)
    lanes = [
        (gpu.pcie_generation_max, gpu.pcie_width, place) for place, gpu in places if gpu.pcie_width and gpu.pcie_generation_max
    ]
    if not lanes:
        return None
    generation, width, place = min(lanes)
    evidence = saw(used.gpus, f"gpus[{place}].pcie_generation_max", f"gpus[{place}].pcie_width")
    return Links(f"PCIe {generation}.0 with {width} lanes, without NVLink,", False, (*evidence, *nvlinks))
