"""What the rules about slow training on several devices share: which measured run falls short, by how much, and in what."""

from typing import NamedTuple

from gpucheck.model import Evidence, TrainingRun, saw
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.training import Training
from gpucheck.rules._gpus import device_name, gpus_in_use
from gpucheck.rules._measured import figures

# TensorFlow's and NVIDIA's published results for one machine lie above 0.9 where each step has enough work; below 0.8 every
# fifth GPU is bought for nothing.
EXPECTED_EFFICIENCY = 0.8
GAIN = 0.1  # of the efficiency, by the doubled batch alone: more than repeated measurements differ


def several(training: Training) -> bool:
    """Whether several accelerators trained together. Logical CPU devices share their cores: not they."""
    return any(
        run.status == "passed" and len(run.devices) > 1 and not any("CPU" in device for device in run.devices)
        for run in training.runs
    )


def measured(training: Training) -> list[tuple[int, TrainingRun]]:
    """Runs on several accelerators whose scaling efficiency was measured."""
    return [
        (place, run)
        for place, run in enumerate(training.runs)
        if run.status == "passed"
        and run.scaling_efficiency is not None
        and len(run.devices) > 1
        and not any("CPU" in device for device in run.devices)
    ]


def short_runs(training: Training) -> list[tuple[int, TrainingRun, float]]:
    """Those below the expected efficiency, with it."""
    return [
        (place, run, run.scaling_efficiency)
        for place, run in measured(training)
        if run.scaling_efficiency is not None and run.scaling_efficiency < EXPECTED_EFFICIENCY
    ]


class Lost(NamedTuple):
    """What a step on several devices takes longer than one on one of them, in seconds, and what of it was measured apart."""

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


FIGURES = (
    "all_devices_step_seconds",
    "all_devices_repeated_batch_step_seconds",
    "one_device_step_seconds",
    "one_device_repeated_batch_step_seconds",
    "gradient_all_reduce_seconds",
)


def lost(training: Training, run: TrainingRun) -> Lost | None:
    """Where the time of that run's steps goes, as the experiment "scaling" measured it; None: it did not, or none is lost."""
    place, found = figures(training, "scaling", run.devices)
    step, repeated, one, one_repeated, exchange = (found.get(name) for name in FIGURES)
    if step is None or repeated is None or one is None or one_repeated is None or exchange is None or step <= one:
        return None
    waiting = min(max(0.0, (step - repeated) - (one - one_repeated)), step - one)
    return Lost(
        seconds=step - one,
        exchange=min(exchange, step - one),
        waiting=waiting,
        bandwidth=found.get("large_all_reduce_bytes_per_second"),
        evidence=saw(training, *(f"experiments[{place}].figures.{name}" for name in FIGURES)),
    )


class Paths(NamedTuple):
    """How GPUs are joined."""

    words: str  # "NVLink", "PCIe 4.0 with 16 lanes, without NVLink"
    nvlink: bool  # between all of them
    evidence: tuple[Evidence, ...]


def paths(run: TrainingRun, gpus: Gpus | None, cuda: Cuda | None) -> Paths | None:
    """What NVML says of the way between a run's GPUs: the narrowest counts. None: it does not say."""
    used = gpus_in_use(gpus, cuda) if gpus is not None else []
    used = [(place, gpu) for place, gpu in used if device_name(gpu, cuda) in run.devices]
    if gpus is None or len(used) < 2:
        return None
    links, fewest = min((sum(link.active for link in gpu.nvlinks), place) for place, gpu in used)
    if links:
        return Paths("NVLink", True, saw(gpus, f"gpus[{fewest}].nvlinks"))
    lanes = [
        (gpu.pcie_generation_max, gpu.pcie_width, place) for place, gpu in used if gpu.pcie_width and gpu.pcie_generation_max
    ]
    if not lanes:
        return None
    generation, width, place = min(lanes, key=lambda lane: (lane[0] or 0, lane[1] or 0))
    evidence = saw(gpus, *(f"gpus[{place}].{name}" for name in ("pcie_generation_max", "pcie_width")), f"gpus[{fewest}].nvlinks")
    return Paths(f"PCIe {generation}.0 with {width} lanes, without NVLink,", False, evidence)


def milliseconds(seconds: float) -> str:
    """'14.5 ms'."""
    return f"{1000 * seconds:.3g} ms"
