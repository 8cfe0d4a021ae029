"""Training on several devices: which measured run falls short, by how much, and in what."""

import msgspec

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.model import Evidence, Fact, TrainingRun, saw
from gpucheck.core.model.plugin import combiner
from gpucheck.core.probes.training import Training

# TensorFlow's and NVIDIA's published results for one machine lie above 0.9 where each step has enough work; below 0.8 every
# fifth GPU is bought for nothing.
EXPECTED_EFFICIENCY = 0.8
_GAIN = 0.1  # of the efficiency, by the doubled batch alone: more than repeated measurements differ
_FIGURES = (
    "all_devices_step_seconds",
    "all_devices_repeated_batch_step_seconds",
    "one_device_step_seconds",
    "one_device_repeated_batch_step_seconds",
    "gradient_all_reduce_seconds",
)


class LostTime(msgspec.Struct, frozen=True):
    """What a step on several devices takes longer than one on one of them, in seconds, and what of it was measured alone."""

    seconds: float
    exchange: float  # all gradients summed over the devices, alone
    waiting: float  # for the input pipeline, beyond what one device waits
    bandwidth: float | None  # bytes per second of a large sum over the devices
    evidence: tuple[Evidence, ...]

    @property
    def cause(self) -> str | None:
        """What accounts for at least half of it: "exchange", "input", or None."""
        if self.waiting >= self.seconds / 2:
            return "input"
        return "exchange" if self.exchange >= self.seconds / 2 else None


class Links(msgspec.Struct, frozen=True):
    """How GPUs are joined."""

    name: str  # "NVLink", "PCIe 4.0 with 16 lanes, without NVLink,"
    nvlink: bool  # between all of them
    evidence: tuple[Evidence, ...]


class ScaledRun(msgspec.Struct, frozen=True):
    """A run on several accelerators whose scaling efficiency was measured."""

    place: int  # in ``Training.runs``
    run: TrainingRun
    efficiency: float
    lost: LostTime | None  # as the experiment "scaling" measured it; None: it did not, or none is lost
    links: Links | None  # the narrowest between its GPUs; None: NVML does not say

    @property
    def larger_batch_helps(self) -> bool:
        """Whether twice the batch does clearly better."""
        doubled = self.run.doubled_batch_scaling_efficiency
        return doubled is not None and doubled >= self.efficiency + _GAIN


class Scaling(Fact, frozen=True, kw_only=True):
    """How well training on several accelerators used them."""

    several: bool  # several accelerators trained together
    measured: tuple[ScaledRun, ...]

    @property
    def short(self) -> list[ScaledRun]:
        """Those below the expected efficiency."""
        return [scaled for scaled in self.measured if scaled.efficiency < EXPECTED_EFFICIENCY]


@combiner
def combine(training: Training, outcomes: TrainingOutcomes, used: GpusInUse | None) -> Scaling:
    """Logical CPU devices share their cores: runs on these do not count."""
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
