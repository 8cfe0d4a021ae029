"""What rules ask of the experiments of a ``--full`` run."""

from collections.abc import Collection

from gpucheck.probes.training import Training


def figures(training: Training | None, name: str, devices: Collection[str]) -> tuple[int, dict[str, float | None]]:
    """An experiment's place in ``Training.experiments`` and its figures, if it was made on these devices and passed; else none."""
    for place, experiment in enumerate(training.experiments if training is not None else ()):
        if experiment.name == name and experiment.status == "passed" and set(experiment.devices) == set(devices):
            return place, experiment.figures
    return -1, {}
