"""From findings and gaps to the one word and the exit code. What could not be looked at is never counted as healthy."""

import collections
import datetime
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from gpucheck.core.engine.facts import Facts
from gpucheck.core.model import (
    Diagnosis,
    ExitCode,
    Level,
    Mute,
    Outcome,
    ProbeStatus,
    Request,
    Severity,
    Status,
    TrainingRun,
    Verdict,
)
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.training import Training

# Driver not loaded, library or function not found (a stub), GPU not found: what a machine without a GPU may answer.
NVML_WITHOUT_GPU = (6, 9, 12, 13, 28)
SOME = 5  # probes that failed alike: more of them have one reason, told once


class Decision(msgspec.Struct, frozen=True):
    """Verdict, exit code, and for the verdict "unknown" what could not be looked at."""

    verdict: Verdict
    exit_code: ExitCode
    unknown_because: tuple[str, ...]


def mute(findings: Iterable[Diagnosis], mutes: Iterable[Mute], today: datetime.date) -> tuple[Diagnosis, ...]:
    """Mark the findings that are muted on that day (UTC), and those whose mute is over: they stay in the report.

    Args:
        findings: in any order, which is kept.
        mutes: several of one code: the latest counts. What follows from a muted finding is not muted with it.
        today: the last day of a mute still belongs to it.
    """
    latest = {mute.code: mute for mute in sorted(mutes, key=lambda mute: mute.until)}
    return tuple(_marked(finding, latest.get(finding.code), today) for finding in findings)


def _marked(finding: Diagnosis, mute: Mute | None, today: datetime.date) -> Diagnosis:
    if mute is None:
        return finding
    words = f"{mute.reason} until {mute.until.isoformat()}"
    return replace(finding, muted=words) if today <= mute.until else replace(finding, mute_expired=words)


def decide(
    request: Request, facts: Facts, findings: Iterable[Diagnosis], outcomes: Iterable[Outcome], unseen: Iterable[str] = ()
) -> Decision:
    """An error decides; then what is not known; then the warnings. What is muted does not count.

    Args:
        request: what the user asked for.
        facts: what was seen.
        findings: what was found.
        outcomes: what became of each rule.
        unseen: what the user expects and could not be looked at, in words.
    """
    counting = [finding for finding in findings if finding.muted is None]
    severities = {finding.severity for finding in counting}
    gaps = (*_gaps(request, facts, outcomes), *unseen)
    if Severity.ERROR in severities:
        return Decision(Verdict.FAIL, ExitCode.FAULT, gaps)
    if request.needs_gpu and not _accelerator(facts):
        gaps = (*gaps, "no accelerator was seen, and no rule can say why")
    elif not _accelerator(facts) and (refusal := _refusal(facts.get(Driver))):
        gaps = (*gaps, refusal)
    if gaps:
        return Decision(Verdict.UNKNOWN, ExitCode.UNKNOWN, gaps)
    if counting:
        allowed = request.expectations.allowed_warnings if request.expectations is not None else ()
        strict = request.strict and any(finding.code not in allowed for finding in counting)
        return Decision(Verdict.WARN, ExitCode.FAULT if strict else ExitCode.HEALTHY, ())
    return Decision(Verdict.PASS, ExitCode.HEALTHY, ())


def _gaps(request: Request, facts: Facts, outcomes: Iterable[Outcome]) -> Iterable[str]:
    failed = [reading for reading in facts if reading.status in (ProbeStatus.FAILED, ProbeStatus.TIMED_OUT)]
    alike = collections.Counter(reading.problem for reading in failed if reading.status is ProbeStatus.FAILED)
    shared = {problem for problem, count in alike.items() if problem is not None and count > SOME}
    yield from (problem for problem in alike if problem is not None and problem in shared)
    yield from (f"{reading.probe}: {reading.problem}" for reading in failed if reading.problem not in shared)
    crashed = [outcome for outcome in outcomes if outcome.status is Status.CRASHED]
    for reason, count in collections.Counter(outcome.reason for outcome in crashed).items():
        code = next(outcome.code for outcome in crashed if outcome.reason == reason)
        rules = f"rule {code}" if count == 1 else f"rule {code} and {count - 1} more"
        yield f"the {rules} crashed ({reason}); please report it"
    if request.level is Level.NODE:
        yield from _node_gaps(facts)
    if request.level >= Level.DEFAULT:
        yield from _framework_gaps(request, facts)


def _node_gaps(facts: Facts) -> Iterable[str]:
    """CUDA that refuses: where an environment is looked at, the environment may be why."""
    gpus, cuda = facts.get(Gpus), facts.get(Cuda)
    if gpus is not None and gpus.gpus and cuda is not None and cuda.status != "ok":
        yield f"CUDA: {cuda.problem or cuda.result_name or cuda.status}, and no rule can say why"


def _accelerator(facts: Facts) -> bool:
    gpus, cuda = facts.get(Gpus), facts.get(Cuda)
    listed = [framework.devices or () for framework in (facts.get(TensorFlow), facts.get(Backend)) if framework is not None]
    return bool(
        (gpus is not None and gpus.gpus)
        or (cuda is not None and cuda.device_count)
        or any(device.kind != "CPU" for devices in listed for device in devices)
    )


def _refusal(driver: Driver | None) -> str | None:
    """NVML's error where it is another than "no driver runs" or "no GPU": then nobody can say that the machine has none."""
    if driver is None or driver.status != "failed" or driver.result is None or driver.result in NVML_WITHOUT_GPU:
        return None
    return f"driver: NVML answers {driver.result_name or 'an error'} ({driver.result}), so a GPU may be here"


def _needless(facts: Facts) -> bool:
    """Whether TensorFlow is not there, and not missed: Keras is told to train on another backend, and does."""
    backend, packages = facts.get(Backend), facts.get(Packages)
    return bool(backend and backend.other and backend.imported and packages and packages.tensorflow is None)


def _framework_gaps(request: Request, facts: Facts) -> Iterable[str]:
    tensorflow, backend, keras = facts.get(TensorFlow), facts.get(Backend), facts.get(Keras)
    if backend is not None and backend.other and backend.devices is None:
        yield f"The devices of Keras on {backend.name} were not reached: {backend.error or backend.ending or 'no answer'}"
    if tensorflow is not None and tensorflow.devices is None and not _needless(facts):
        yield _no_devices(request, tensorflow)
    if keras is not None and keras.imported is False:
        yield f"Keras could not be imported: {keras.error or keras.error_type or 'no reason was given'}"
    if request.smoke:
        yield from _training_gaps(request, facts)


def _no_devices(request: Request, tensorflow: TensorFlow) -> str:
    """Why TensorFlow listed no devices. What it was doing when time ran out is named: more time may be all that it needs."""
    ending = tensorflow.error or tensorflow.ending or "no answer"
    if ending != "timed out":
        return f"TensorFlow's device list was not reached: {ending}"
    doing = {"import": "importing TensorFlow", "devices": "TensorFlow listed its devices"}.get(tensorflow.stage or "")
    during = f" while {doing}" if doing else " before TensorFlow listed its devices"
    return f"time ran out ({request.timeout_seconds:g} s){during}. Try --timeout {max(60.0, 2 * request.timeout_seconds):g}"


def _training_gaps(request: Request, facts: Facts) -> Iterable[str]:
    training = facts.get(Training)
    if training is None:
        if facts.reading("training") is None:  # a report that names no training; a live run always has its reading
            yield "nothing was trained: not observed"
        return
    yield from _unfinished(training.runs, request.strategies)
    for experiment in training.experiments:
        if experiment.status == "timed_out":
            yield f"experiment {experiment.name.replace('_', ' ')}, and what comes after it: {experiment.reason or 'out of time'}"
    if not any(run.status in ("passed", "failed", "timed_out") for run in training.runs):
        yield f"nothing was trained: {training.ending or 'no run was possible'}"


def _unfinished(runs: Iterable[TrainingRun], asked: tuple[str, ...]) -> Iterable[str]:
    """Runs cut short, and those asked for and skipped; of runs that never began, one sentence for each reason."""
    never_begun: dict[str, list[str]] = {}
    for run in runs:
        label = f"{run.strategy} on {devices(run.devices) or 'no device'}"
        if run.status == "timed_out" and run.stage is None:
            never_begun.setdefault(run.reason or "out of time", []).append(label)
        elif run.status == "timed_out":
            yield f"training {label}: {run.reason or 'out of time'}"
        elif run.status == "skipped" and run.strategy in asked:
            yield f"training {label}, asked for with --strategy, was skipped: {run.reason}"
    for reason, labels in never_begun.items():
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        yield f"training {labels[0]}{more}: {reason}"
