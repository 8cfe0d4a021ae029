"""The fields that a fleet reads from a report, and what it keeps of them.

They are not decoded as the core's types: reports of other versions may have other fields and values, and one of them must not
prevent the merge. Skipping the rest also takes two thirds of the time.
"""

import datetime
import os
from collections.abc import Sequence

import msgspec

from gpucheck.core.model import WorkerFault, WorkerLink

# Limits on what is kept of a report, so that a malicious one does not exhaust the memory of the merge.
LONGEST = 500  # characters of a text
MOST = 64  # root causes, GPUs, training jobs
NUMERIC = ("TF_", "NVIDIA_TF32", "CUBLAS", "CUDNN", "XLA_")  # variables that may change the bits of results


class System(msgspec.Struct):
    """The operating system."""

    node: str | None = None
    os_name: str | None = None
    kernel: str | None = None


class Version(msgspec.Struct):
    """The version of any component."""

    version: str | None = None


class Driver(msgspec.Struct):
    """The NVIDIA driver."""

    version: str | None = None
    cuda_version: str | None = None


class Gpu(msgspec.Struct):
    """One GPU."""

    name: str | None = None
    uuid: str | None = None


class Gpus(msgspec.Struct):
    """The GPUs that NVML lists."""

    gpus: list[Gpu] = []


class Packages(msgspec.Struct):
    """The installed packages."""

    tensorflow: Version | None = None
    keras: Version | None = None


class Libraries(msgspec.Struct):
    """The CUDA libraries that TensorFlow opens."""

    libraries: list[Version] = []


class Environment(msgspec.Struct):
    """The environment variables that affect GPUs."""

    variables: dict[str, str] = {}


class DeviceChecksums(msgspec.Struct):
    """Checksums of the results of a device."""

    device: str
    model: str | None = None
    checksums: dict[str, str] = {}


class Checksums(msgspec.Struct):
    """The checksums of all devices."""

    devices: list[DeviceChecksums] = []


class Training(msgspec.Struct):
    """The training of a node."""

    checksums: Checksums | None = None


class Facts(msgspec.Struct):
    """The facts that identify a node and its configuration."""

    system: System | None = None
    driver: Driver | None = None
    gpus: Gpus | None = None
    packages: Packages | None = None
    interpreter: Version | None = None
    libraries: Libraries | None = None
    environment: Environment | None = None
    training: Training | None = None


class Run(msgspec.Struct):
    """One training job."""

    strategy: str
    status: str
    reason: str | None = None
    precision: str = ""
    compiled: bool = False
    devices: list[str] = []
    trained_with: int = 0
    samples_per_second: float | None = None
    step_seconds: float | None = None
    first_step_seconds: float | None = None
    shards_verified: bool | None = None
    replicas_equal: bool | None = None
    loss_fell: bool | None = None
    worker_names: list[str] = []
    worker_versions: list[dict[str, str]] = []
    worker_faults: list[WorkerFault] = []
    worker_links: list[WorkerLink] = []


class Fix(msgspec.Struct):
    """One repair."""

    command: str | None = None
    kind: str | None = None


class Finding(msgspec.Struct):
    """One finding."""

    code: str
    severity: str
    scope: str
    summary: str
    fix: list[Fix] = []
    action: str | None = None
    explained_by: str | None = None
    muted: str | None = None


class Report(msgspec.Struct):
    """The part of a report that a fleet reads."""

    schema_version: str
    tool: dict[str, str]
    started_at: str
    verdict: str
    findings: list[Finding]
    facts: Facts
    exit_code: int = 0
    unknown_because: list[str] = []
    training: list[Run] = []


class Cause(msgspec.Struct, frozen=True):
    """A root cause on one node."""

    code: str
    severity: str
    scope: str
    summary: str
    command: str | None = None  # of its first repair
    action: str | None = None


class NodeReport(msgspec.Struct, frozen=True):
    """The content of one report that a fleet needs."""

    file: str
    node: str
    started_at: str
    verdict: str
    faulty: bool  # including a warning that --strict turned into a fault
    causes: tuple[Cause, ...]
    unknown_because: str | None
    configuration: dict[str, str]  # "TensorFlow": "2.21.0"; unknown values are omitted
    gpus: tuple[str, ...] | None  # product names; None: they could not be read
    uuids: tuple[str, ...]
    speeds: dict[str, float]  # training job -> samples/s of its slowest device
    starts: dict[str, float]  # training job -> seconds of its slowest first step
    setup: tuple[str, ...]  # GPU model and software, which determine the bits of results; empty: unknown
    checksums: dict[str, str]  # computation -> checksum of the first GPU's result
    age_seconds: float | None  # negative: its time is in the future; None: it has no time


def node_of_file(path: str) -> str:
    """Return the name of the node that a file is named after."""
    return shortened(os.path.basename(path).partition(".")[0])


def node_report(path: str, report: Report, now: float) -> NodeReport:
    """Return what a fleet needs from a report; ``path`` is the file's, and ``now`` is in seconds since 1970."""
    facts = report.facts
    gpus = facts.gpus.gpus if facts.gpus else []
    speeds, starts = _training(report.training)
    setup, checksums = _results(report)
    roots = [finding for finding in report.findings if finding.explained_by is None and finding.muted is None]
    return NodeReport(
        file=path,
        node=shortened((facts.system and facts.system.node) or node_of_file(path)),
        started_at=shortened(report.started_at),
        verdict=report.verdict if report.verdict in ("pass", "warn", "fail") else "unknown",
        faulty=report.verdict == "fail" or (report.verdict == "warn" and report.exit_code != 0),
        causes=tuple(map(_cause, roots[:MOST])),
        unknown_because=shortened(next(iter(report.unknown_because), "no reason given")) if report.verdict == "unknown" else None,
        configuration=_configuration(facts, len(gpus)),
        gpus=tuple(sorted({shortened(gpu.name) for gpu in gpus if gpu.name})[:MOST]) if facts.gpus else None,
        uuids=tuple(sorted(shortened(gpu.uuid) for gpu in gpus if gpu.uuid)[:MOST]),
        speeds=speeds,
        starts=starts,
        setup=setup,
        checksums=checksums,
        age_seconds=_age(report.started_at, now),
    )


def _cause(root: Finding) -> Cause:
    command = next((fix.command for fix in root.fix if fix.kind != "look"), None)  # later ones are alternatives
    code, severity, scope, summary = map(shortened, (root.code, root.severity, root.scope, root.summary))
    return Cause(code, severity, scope, summary, command and shortened(command), root.action and shortened(root.action))


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text cut to a maximum number of characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _configuration(facts: Facts, gpus: int) -> dict[str, str]:
    packages = facts.packages or Packages()
    values = {
        "TensorFlow": packages.tensorflow and packages.tensorflow.version,
        "Keras": packages.keras and packages.keras.version,
        "Python": facts.interpreter and facts.interpreter.version,
        "driver": facts.driver and facts.driver.version,
        "CUDA of the driver": facts.driver and facts.driver.cuda_version,
        "system": facts.system and facts.system.os_name,
        "kernel": facts.system and facts.system.kernel,
        "number of GPUs": str(gpus) if gpus else None,
    }
    return {name: shortened(value) for name, value in values.items() if value}


def _training(runs: Sequence[Run]) -> tuple[dict[str, float], dict[str, float]]:
    """Return speeds and starts of jobs that passed on an accelerator; a CPU's speed depends on other processes."""
    speeds: dict[str, float] = {}
    starts: dict[str, float] = {}
    for run in runs:
        if run.status != "passed" or not run.devices or any(name.startswith("CPU") for name in run.devices):
            continue
        together = ", devices together" if run.trained_with else ""
        job = shortened(f"{run.strategy} on {len(run.devices)} in {run.precision}{' by XLA' if run.compiled else ''}{together}")
        if len({*speeds, *starts, job}) > MOST:
            break
        if run.samples_per_second is not None:
            speeds[job] = min(run.samples_per_second, speeds.get(job, run.samples_per_second))
        if run.first_step_seconds is not None:
            starts[job] = max(run.first_step_seconds, starts.get(job, 0.0))
    return speeds, starts


def _results(report: Report) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return what determines the bits of the first GPU's results (the model first), and their checksums; empty if unknown."""
    facts = report.facts
    found = facts.training.checksums if facts.training is not None else None
    gpu = next((device for device in found.devices if device.device.startswith("GPU")), None) if found is not None else None
    libraries = [library.version for library in facts.libraries.libraries] if facts.libraries is not None else []
    packages = facts.packages or Packages()
    software = [
        report.tool.get("version"),
        facts.driver and facts.driver.version,
        packages.tensorflow and packages.tensorflow.version,
        *libraries,
    ]
    if gpu is None or gpu.model is None or not libraries or None in software:
        return (), {}
    variables = facts.environment.variables if facts.environment is not None else {}
    numeric = [f"{name}={value}" for name, value in sorted(variables.items()) if name.startswith(NUMERIC)]
    setup = tuple(shortened(str(part)) for part in (gpu.model, *software, *numeric)[:MOST])
    return setup, {shortened(name): shortened(value) for name, value in list(gpu.checksums.items())[:MOST]}


def _age(started_at: str, now: float) -> float | None:
    try:
        return now - datetime.datetime.fromisoformat(started_at.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return None
