"""What a mirrored run without NCCL, tried after one that did not pass, says of the exchange of gradients."""

from gpucheck.model import Evidence, Fix, TrainingRun, saw
from gpucheck.probes.training import Training
from gpucheck.rules._training import label
from gpucheck.rules._words import short

CLASSES = {"hierarchical_copy": "HierarchicalCopyAllReduce", "reduction_to_one": "ReductionToOneDevice"}


def cured(training: Training | None) -> tuple[int, int] | None:
    """Places of a mirrored run that did not pass, and of the same run that passed with another exchange."""
    runs = training.runs if training is not None else ()
    for cure, run in enumerate(runs):
        for bad, other in enumerate(runs):
            if run.cross_device is not None and run.status == "passed" and _same(run, other):
                return bad, cure
    return None


def sentence(training: Training, bad: int, cure: int, usual: str) -> tuple[str, tuple[Evidence, ...]]:
    """The sentence and its evidence; ``usual`` is what exchanges gradients otherwise."""
    run = training.runs[bad]
    what = "stands still" if run.status == "timed_out" else f"fails ({short(run.reason or 'no reason given')})"
    return (
        f"{label(run)} {what} with {usual}, and trains without it ({_class_of(training.runs[cure])}).",
        saw(training, f"runs[{bad}].reason", f"runs[{cure}].cross_device", f"runs[{cure}].status"),
    )


def instead(run: TrainingRun | None) -> Fix:
    """How to train meanwhile: as that run did, or as it may help."""
    tried = (
        "Until the cause is found, train without it, which was tried here and works" if run else "Meanwhile, train without NCCL"
    )
    return Fix(text=f"{tried}: tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.{_class_of(run)}())")


def _class_of(run: TrainingRun | None) -> str:
    way = "hierarchical_copy" if run is None or run.cross_device is None else run.cross_device
    return CLASSES.get(way, way)


def _same(run: TrainingRun, other: TrainingRun) -> bool:
    alike = (run.strategy, run.devices, run.precision) == (other.strategy, other.devices, other.precision)
    return alike and other.cross_device is None and other.status in ("failed", "timed_out")
