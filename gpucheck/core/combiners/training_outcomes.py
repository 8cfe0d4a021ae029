"""The outcomes of training: the jobs of this run, and the log lines after which training did not continue."""

import re
from collections.abc import Callable, Collection

import msgspec

from gpucheck.core.compat.keras import TITLES
from gpucheck.core.logs.events import Event
from gpucheck.core.logs.log import Log, unresolved
from gpucheck.core.model import Evidence, Fact, Skip, TrainingRun, combiner, saw
from gpucheck.core.model.naming import devices
from gpucheck.core.model.wording import short
from gpucheck.core.probes.training import Training


class Failure(msgspec.Struct, frozen=True):
    """The first occurrence of a failure."""

    text: str  # the reason or the log line, shortened
    evidence: tuple[Evidence, ...]
    affects: tuple[str, ...]
    run: TrainingRun | None = None  # None: seen in the log only
    event: Event | None = None


class TrainingOutcomes(Fact, frozen=True, kw_only=True):
    """Queries of training jobs and log lines."""

    training: Training | None
    log: Log | None

    @property
    def runs(self) -> tuple[TrainingRun, ...]:
        """The training jobs; none if nothing was trained."""
        return self.training.runs if self.training is not None else ()

    @property
    def events(self) -> tuple[Event, ...]:
        """The log's events; none without a log."""
        return self.log.events if self.log is not None else ()

    @property
    def passed(self) -> list[TrainingRun]:
        """The runs that passed."""
        return [run for run in self.runs if run.status == "passed"]

    @property
    def failed(self) -> list[TrainingRun]:
        """The runs that failed."""
        return [run for run in self.runs if run.status == "failed"]

    @property
    def all_passed(self) -> bool:
        """Whether jobs passed and none failed; an alarming log line is then not a failure."""
        return self.training is not None and self.training.ending is None and bool(self.passed) and not self.failed

    @property
    def skip(self) -> Skip | None:
        """A skip if there is neither a job nor a log; else None."""
        return Skip("no training job and no log to check") if self.training is None and self.log is None else None

    def trained_on_gpu(self, *, compiled: bool = False) -> bool:
        """Whether a job passed on a GPU, which shows that all layers below it work. ``compiled``: with a step compiled by XLA."""
        return any(on_gpu(run) and (not compiled or _compiled_by_xla(run)) for run in self.passed)

    def failure(
        self,
        pattern: str,
        *kinds: str,
        where: Callable[[Event], bool] = lambda event: True,
    ) -> Failure | Skip | None:
        """Return the first failed run whose reason matches, else the first unresolved log event of these kinds.

        None if all jobs passed: an alarming log line is then not a failure.
        """
        if (failed := self.failed_run(lambda run: re.search(pattern, run.reason or "") is not None)) is not None:
            return failed
        for place, event in () if self.all_passed else unresolved(self.log, *kinds):
            if where(event):
                return Failure(short(event.text), self.saw_event(place), (), None, event)
        return self.skip

    def failed_run(self, fits: Callable[[TrainingRun], bool]) -> Failure | None:
        """Return the first failed run that fits."""
        for place, run in enumerate(self.runs):
            if run.status == "failed" and fits(run):
                return Failure(short(run.reason or ""), self.saw_run(place, "devices", "reason"), run.devices, run)
        return None

    def saw_run(self, place: int, *fields: str) -> tuple[Evidence, ...]:
        """Return evidence from a job."""
        return saw(self.training, *(f"runs[{place}].{field}" for field in fields))

    def saw_event(self, place: int) -> tuple[Evidence, ...]:
        """Return a log line as evidence."""
        return saw(self.log, f"events[{place}].text")

    def saw_events(self, *kinds: str) -> tuple[Evidence, ...]:
        """Return all log lines of these kinds, resolved or not, as further evidence."""
        return tuple(item for place, event in enumerate(self.events) if event.kind in kinds for item in self.saw_event(place))

    def figures(self, name: str, devices: Collection[str]) -> tuple[int, dict[str, float | None]]:
        """Return the index and figures of an experiment that passed on these devices; else -1 and no figures."""
        for place, experiment in enumerate(self.training.experiments if self.training is not None else ()):
            if experiment.name == name and experiment.status == "passed" and set(experiment.devices) == set(devices):
                return place, experiment.figures
        return -1, {}

    def saw_figures(self, place: int, *names: str) -> tuple[Evidence, ...]:
        """Return figures of an experiment as evidence."""
        return saw(self.training, *(f"experiments[{place}].figures.{name}" for name in names))


def on_gpu(run: TrainingRun) -> bool:
    """Whether the run was planned for GPUs."""
    return any("GPU" in device for device in run.devices)


def label(run: TrainingRun) -> str:
    """Return 'mirrored on GPU:0-7 in mixed_float16', or 'one_device on GPU:0 with JAX'."""
    precision = "" if run.precision == "float32" else f" in {run.precision}"
    framework = "" if run.backend == "tensorflow" else f" with {TITLES[run.backend]}"
    return f"{run.strategy}{' on ' + devices(run.devices) if run.devices else ''}{precision}{framework}"


combine = combiner(TrainingOutcomes)


def _compiled_by_xla(run: TrainingRun) -> bool:
    return run.backend == "tensorflow" and bool(run.compiled or run.xla_verified)
