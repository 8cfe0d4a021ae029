"""The verdict and the exit code, decided from findings and gaps. What could not be checked never counts as healthy."""

import collections
import datetime
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from gpucheck.core.compat.cuda import CUDA_ERROR_NO_DEVICE
from gpucheck.core.compat.nvml import HANDLE_LOST, WITHOUT_GPU
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
from gpucheck.core.model.fact import Facts
from gpucheck.core.model.findings import FOLDER, LIMIT, OF_PROCESS
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.device_nodes import DeviceNodes
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.kernel_log import KernelLog
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.tensorflow import Device, TensorFlow
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.training import Training

# NVML's values and the kernel's messages show these, and no limit of a process can cause them
PROVEN, PROOF = ("gpu-lost", "ecc-errors", "nvlink-down"), {"gpus", "kernel_log"}
LATE = "the time limit was reached"
LISTED_MAX = 5  # if more probes fail with the same problem, it is reported once


class Decision(msgspec.Struct, frozen=True):
    """Verdict, exit code, and for the verdict "unknown" what could not be checked."""

    verdict: Verdict
    exit_code: ExitCode
    unknown_because: tuple[str, ...]


def mute(findings: Iterable[Diagnosis], mutes: Iterable[Mute], today: datetime.date) -> tuple[Diagnosis, ...]:
    """Mark the findings that are muted on that day (UTC), and those whose mute has expired. All stay in the report.

    Args:
        findings: in any order, which is kept.
        mutes: if several have the same code, the latest applies. Findings that a muted one explains are not muted.
        today: a mute includes its last day.
    """
    latest = {mute.code: mute for mute in sorted(mutes, key=lambda mute: mute.until)}
    return tuple(_marked(finding, latest.get(finding.code), today) for finding in findings)


def _marked(finding: Diagnosis, mute: Mute | None, today: datetime.date) -> Diagnosis:
    if mute is None:
        return finding
    words = f"{mute.reason} until {mute.until.isoformat()}"
    return replace(finding, muted=words) if today <= mute.until else replace(finding, mute_expired=words)


def decide(
    request: Request, facts: Facts, findings: Sequence[Diagnosis], outcomes: Iterable[Outcome], unchecked: Iterable[str] = ()
) -> Decision:
    """Decide by errors first, then gaps, then warnings. Muted findings are ignored.

    Args:
        request: what the user requested.
        facts: what was observed.
        findings: what was found.
        outcomes: the outcome of each rule.
        unchecked: expectations that could not be checked, as sentences.
    """
    counting = [finding for finding in findings if finding.muted is None]
    severities = {finding.severity for finding in counting}
    gaps = (*_gaps(request, facts, outcomes), *unchecked)
    if request.level is Level.NODE and (limits := _limits(counting)):
        return Decision(Verdict.UNKNOWN, ExitCode.UNKNOWN, (*limits, *gaps))
    if Severity.ERROR in severities:
        return Decision(Verdict.FAIL, ExitCode.FAULT, gaps)
    if request.needs_gpu and not _accelerator(facts):
        gaps = (*gaps, "no accelerator was detected, and no rule explains why")
    elif not _accelerator(facts) and (refusal := _refusal(facts.get(Driver))):
        gaps = (*gaps, refusal)
    elif not any(finding.severity is Severity.ERROR for finding in findings) and (unlisted := _unlisted(request, facts)):
        gaps = (*gaps, unlisted)
    if gaps:
        return Decision(Verdict.UNKNOWN, ExitCode.UNKNOWN, gaps)
    if counting:
        allowed = request.expectations.allowed_warnings if request.expectations is not None else ()
        own = OF_PROCESS if request.level is Level.NODE else ()  # the limits of a health check's process are not the node's
        strict = request.strict and any(finding.code not in (*allowed, *own) for finding in counting)
        return Decision(Verdict.WARN, ExitCode.FAULT if strict else ExitCode.HEALTHY, ())
    return Decision(Verdict.PASS, ExitCode.HEALTHY, ())


def _limits(findings: Iterable[Diagnosis]) -> tuple[str, ...]:
    """Return the errors about this process, which do not show the node's state: its jobs have other limits and folders."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if any(error.code in PROVEN and PROOF & {item.fact for item in error.evidence} for error in errors):
        return ()
    alone = all(finding.code == FOLDER for finding in errors)
    return tuple(finding.summary for finding in errors if finding.code == LIMIT or alone)


def _gaps(request: Request, facts: Facts, outcomes: Iterable[Outcome]) -> Iterable[str]:
    failed = [reading for reading in facts if reading.status in (ProbeStatus.FAILED, ProbeStatus.TIMED_OUT)]
    counts = collections.Counter(reading.problem for reading in failed if reading.status is ProbeStatus.FAILED)
    shared = {problem for problem, count in counts.items() if problem is not None and count > LISTED_MAX}
    yield from (problem for problem in counts if problem is not None and problem in shared)
    yield from (f"{reading.probe}: {reading.problem}" for reading in failed if reading.problem not in shared)
    crashed = [outcome for outcome in outcomes if outcome.status is Status.CRASHED]
    for reason, count in collections.Counter(outcome.reason for outcome in crashed).items():
        code = next(outcome.code for outcome in crashed if outcome.reason == reason)
        rules = f"rule {code}" if count == 1 else f"rule {code} and {count - 1} more"
        yield f"the {rules} crashed ({reason}); please report it"
    if request.level is Level.NODE:
        yield from _node_gaps(facts)
        if request.strict:
            yield from _strict_gaps(facts)
    if request.level >= Level.DEFAULT:
        yield from _framework_gaps(request, facts)


def _node_gaps(facts: Facts) -> Iterable[str]:
    """Report what NVML did not show, and CUDA errors. Only for the level "node": at other levels, training shows more."""
    gpus, cuda, driver, nodes = facts.get(Gpus), facts.get(Cuda), facts.get(Driver), facts.get(DeviceNodes)
    if nodes is not None and nodes.ending is not None:
        yield f"The device files were not opened: {nodes.ending}"
    if _accelerator(facts) and (refusal := _refusal(driver)):  # CUDA lists GPUs
        yield refusal
    for gpu in gpus.gpus if gpus is not None else ():
        if gpu.problem is not None and gpu.result not in HANDLE_LOST:
            yield f"{gpu.label}: NVML returns {gpu.problem} ({gpu.result}), so its state is not known"
    if gpus is not None and gpus.gpus and cuda is not None and cuda.status != "ok":
        yield f"CUDA: {cuda.problem or cuda.result_name or cuda.status}, so CUDA could not be checked"


def _strict_gaps(facts: Facts) -> Iterable[str]:
    """Report where a node's fault could have been missed. Only with --strict: a container may lack access to the kernel log."""
    log, gpus, cuda = facts.get(KernelLog), facts.get(Gpus), facts.get(Cuda)
    if log is not None and log.unread is not None:
        yield f"The kernel log was not read completely: {log.unread}"
    yield from (
        f"{gpu.label}: its memory errors could not be read" for gpu in (gpus.gpus if gpus is not None else ()) if gpu.ecc_unread
    )
    for device in cuda.devices if cuda is not None else ():
        if device.name is None and device.pci_address is None:
            yield f"CUDA counts device {device.ordinal}, but does not describe it"


def _accelerator(facts: Facts) -> bool:
    gpus, cuda, tpu = facts.get(Gpus), facts.get(Cuda), facts.get(Tpu)
    return bool(
        (gpus is not None and gpus.gpus)
        or (cuda is not None and cuda.device_count)
        or (tpu is not None and tpu.nodes)
        or any(device.kind != "CPU" for device in _listed(facts))
    )


def _listed(facts: Facts) -> list[Device]:
    """Return the devices that the frameworks list."""
    frameworks = (facts.get(TensorFlow), facts.get(Backend))
    return [device for framework in frameworks if framework is not None for device in framework.devices or ()]


def _unlisted(request: Request, facts: Facts) -> str | None:
    """Describe the devices that no framework lists. None: one is listed, the machine has none, or all are hidden on purpose."""
    listed = _listed(facts)
    if not listed or any(device.kind != "CPU" for device in listed) or request.gpuless:
        return None
    cuda, driver, tpu = facts.get(Cuda), facts.get(Driver), facts.get(Tpu)
    if tpu is not None and tpu.nodes:
        return f"{tpu.nodes[0]} shows a TPU, the framework lists none, and no rule explains why"
    if request.allow_cpu and cuda is not None and cuda.result == CUDA_ERROR_NO_DEVICE:
        return None
    if driver is not None and driver.gpu_count:
        source, count = "the driver", driver.gpu_count
    else:
        container, pci = facts.get(Container), facts.get(Pci)
        own = [] if container is None or container.inside or pci is None else pci.gpus
        source, count = "the PCI bus", sum(gpu.kernel_driver != "vfio-pci" for gpu in own)
    if not count:
        return None
    return f"{source} shows {count} GPU{'s' if count > 1 else ''}, the framework lists none, and no rule explains why"


def _refusal(driver: Driver | None) -> str | None:
    """Return NVML's error unless it means "no driver" or "no GPU": with any other, the machine may have a GPU."""
    if driver is None or driver.status != "failed" or driver.result is None or driver.result in WITHOUT_GPU:
        return None
    return f"driver: NVML returns {driver.result_name or 'an error'} ({driver.result}), so the state of its GPUs is not known"


def _tensorflow_not_needed(facts: Facts) -> bool:
    """Whether TensorFlow is neither installed nor needed: Keras is configured for another backend, which was imported."""
    backend, packages = facts.get(Backend), facts.get(Packages)
    return bool(backend and backend.other and backend.imported and packages and packages.tensorflow is None)


def _framework_gaps(request: Request, facts: Facts) -> Iterable[str]:
    tensorflow, backend, keras = facts.get(TensorFlow), facts.get(Backend), facts.get(Keras)
    if backend is not None and backend.other and backend.devices is None:
        yield f"The devices of Keras on {backend.name} were not reached: {backend.error or backend.ending or 'no answer'}"
    if tensorflow is not None and tensorflow.devices is None and not _tensorflow_not_needed(facts):
        yield _no_devices(request, tensorflow)
    if keras is not None and keras.imported is False:
        yield f"Keras could not be imported: {keras.error or keras.error_type or 'no reason was given'}"
    if request.smoke:
        yield from _training_gaps(request, facts)


def _no_devices(request: Request, tensorflow: TensorFlow) -> str:
    """Return why TensorFlow listed no devices; for a timeout, the stage that it had reached, because more time may be enough."""
    ending = tensorflow.error or tensorflow.ending or "no answer"
    if ending != "timed out":
        return f"TensorFlow's device list was not reached: {ending}"
    doing = {"import": "importing TensorFlow", "devices": "TensorFlow listed its devices"}.get(tensorflow.stage or "")
    during = f" while {doing}" if doing else " before TensorFlow listed its devices"
    return f"time ran out ({request.timeout_seconds:g} s){during}. Try --timeout {max(60.0, 2 * request.timeout_seconds):g}"


def _training_gaps(request: Request, facts: Facts) -> Iterable[str]:
    training = facts.get(Training)
    if training is None:
        if facts.reading("training") is None:  # a report without training; a live run always has its reading
            yield "nothing was trained: not observed"
        return
    yield from _unfinished(training.runs, request.strategies)
    for experiment in training.experiments:
        if experiment.status == "timed_out":
            yield f"experiment {experiment.name.replace('_', ' ')}, and what comes after it: {experiment.reason or LATE}"
    if not any(run.status in ("passed", "failed", "timed_out") for run in training.runs):
        yield f"nothing was trained: {training.skipped or training.ending or 'no run was possible'}"


def _unfinished(runs: Iterable[TrainingRun], requested: tuple[str, ...]) -> Iterable[str]:
    """Yield a sentence per run that timed out or was requested and skipped; runs that never started share one per reason."""
    not_started: dict[str, list[str]] = {}
    for run in runs:
        label = f"{run.strategy} on {devices(run.devices) or 'no device'}"
        if run.status == "timed_out" and run.stage is None:
            not_started.setdefault(run.reason or LATE, []).append(label)
        elif run.status == "timed_out":
            yield f"training {label}: {run.reason or LATE}"
        elif run.status == "skipped" and run.strategy in requested:
            yield f"training {label}, requested with --strategy, was skipped: {run.reason}"
    for reason, labels in not_started.items():
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        yield f"training {labels[0]}{more}: {reason}"
