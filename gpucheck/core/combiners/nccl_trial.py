"""Whether NCCL makes a mirrored run fail: the result of training the same job again without NCCL."""

from gpucheck.core.combiners.training_outcomes import label
from gpucheck.core.model import Evidence, Fact, TrainingRun, combiner, saw
from gpucheck.core.model.wording import short
from gpucheck.core.probes.training import Training

_CLASSES = {"hierarchical_copy": "HierarchicalCopyAllReduce", "reduction_to_one": "ReductionToOneDevice"}


class NcclTrial(Fact, frozen=True, kw_only=True):
    """A run that did not pass, and the same job that passed with another exchange; both None if there is no such pair."""

    failed: TrainingRun | None = None
    passed: TrainingRun | None = None
    evidence: tuple[Evidence, ...] = ()

    def sentence(self, method: str) -> str:
        """Return the result as a sentence; ``method`` is the method that exchanged gradients in the failed run."""
        if self.failed is None:
            return ""
        hangs = self.failed.status == "timed_out"
        what = "hangs" if hangs else f"fails ({short(self.failed.reason or 'no reason given')})"
        return f"{label(self.failed)} {what} with {method}, but trains without it ({self.exchange})."

    @property
    def exchange(self) -> str:
        """The class of tf.distribute that the passed run used; empty without one."""
        way = (self.passed.cross_device if self.passed is not None else None) or ""
        return _CLASSES.get(way, way)


@combiner
def combine(training: Training | None) -> NcclTrial:
    """Find the first pair."""
    runs = training.runs if training is not None else ()
    for again_place, again in enumerate(runs):
        for place, run in enumerate(runs):
            if again.cross_device is not None and again.status == "passed" and _same_job(again, run):
                fields = f"runs[{place}].reason", f"runs[{again_place}].cross_device", f"runs[{again_place}].status"
                return NcclTrial(failed=run, passed=again, evidence=saw(training, *fields))
    return NcclTrial()


def _same_job(again: TrainingRun, run: TrainingRun) -> bool:
    same_job = (again.strategy, again.devices, again.precision) == (run.strategy, run.devices, run.precision)
    return same_job and run.cross_device is None and run.status in ("failed", "timed_out")
