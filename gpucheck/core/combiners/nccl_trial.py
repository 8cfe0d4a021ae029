"""A mirrored run without NCCL, tried after one that did not pass: what it says of the exchange of gradients."""

from gpucheck.core.combiners.training_outcomes import label
from gpucheck.core.model import Evidence, Fact, TrainingRun, saw
from gpucheck.core.model.plugin import combiner
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.wording import short

_CLASSES = {"hierarchical_copy": "HierarchicalCopyAllReduce", "reduction_to_one": "ReductionToOneDevice"}


class NcclTrial(Fact, frozen=True, kw_only=True):
    """The run that did not pass, and the same one that passed with another exchange; both None if there is no such pair."""

    stuck: TrainingRun | None = None
    cure: TrainingRun | None = None
    evidence: tuple[Evidence, ...] = ()

    def sentence(self, usual: str) -> str:
        """What it shows; ``usual`` is what exchanges gradients otherwise."""
        if self.stuck is None:
            return ""
        hangs = self.stuck.status == "timed_out"
        what = "hangs" if hangs else f"fails ({short(self.stuck.reason or 'no reason given')})"
        return f"{label(self.stuck)} {what} with {usual}, and trains without it ({self.exchange})."

    @property
    def exchange(self) -> str:
        """The class of tf.distribute that the other run used, or that may help."""
        way = (self.cure.cross_device if self.cure is not None else None) or "hierarchical_copy"
        return _CLASSES.get(way, way)


@combiner
def combine(training: Training | None) -> NcclTrial:
    """The first pair."""
    runs = training.runs if training is not None else ()
    for cure_place, cure in enumerate(runs):
        for place, run in enumerate(runs):
            if training is not None and cure.cross_device is not None and cure.status == "passed" and _same_job(cure, run):
                fields = f"runs[{place}].reason", f"runs[{cure_place}].cross_device", f"runs[{cure_place}].status"
                return NcclTrial(stuck=run, cure=cure, evidence=saw(training, *fields))
    return NcclTrial()


def _same_job(cure: TrainingRun, run: TrainingRun) -> bool:
    same_job = (cure.strategy, cure.devices, cure.precision) == (run.strategy, run.devices, run.precision)
    return same_job and run.cross_device is None and run.status in ("failed", "timed_out")
