"""What the rules about slow training on several devices share: which measured run falls short, and by how much."""

from gpucheck.model import TrainingRun
from gpucheck.probes.training import Training

# TensorFlow's and NVIDIA's published results for one machine lie above 0.9 where each step has enough work; below 0.8 every
# fifth GPU is bought for nothing.
EXPECTED_EFFICIENCY = 0.8


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
