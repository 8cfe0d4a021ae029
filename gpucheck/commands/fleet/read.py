"""Read the part of a node's report that a fleet needs."""

import contextlib
import datetime
import errno
import math
import os
import time
from collections.abc import Sequence

import msgspec

from gpucheck.commands.fleet.decoded import Facts, Finding, Packages, Report, Run
from gpucheck.commands.fleet.model import Unusual
from gpucheck.core.system.bounded import with_deadline
from gpucheck.core.system.read import INVALID_JSON, regular

LARGEST_BYTES = 1 << 23  # a report of a machine of 1,000 GPUs takes 2 MB
# Limits for what is kept of a report, so that a malicious one does not fill the memory of the merge.
LONGEST = 500  # characters of a text
MOST = 64  # root causes, GPUs, training jobs
SUPPORTED = "1"  # the major version of the report's schema
NUMERIC = ("TF_", "NVIDIA_TF32", "CUBLAS", "CUDNN", "XLA_")  # variables that may change the bits of results
LATE = "the time limit was reached (--timeout)"


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
    configuration: dict[str, str]  # "TensorFlow": "2.21.0"; unknown values are left out
    gpus: tuple[str, ...] | None  # product names; None: they could not be read
    uuids: tuple[str, ...]
    speeds: dict[str, float]  # training job -> samples/s of its slowest device
    starts: dict[str, float]  # training job -> seconds of its slowest first step
    setup: tuple[str, ...]  # GPU model and software, which determine the bits of results; empty: unknown
    checksums: dict[str, str]  # computation -> checksum of the first GPU's result
    age_seconds: float | None  # negative: its time is in the future; None: it has no time


def unread(path: str, kind: str, why: str) -> Unusual:
    """Return the problem of a file that is not a valid, complete report, named after the node that wrote it."""
    return Unusual(kind=kind, node=node_of_file(path), file=path, why=why)


def node_of_file(path: str) -> str:
    """Return the name of the node that a file is named after."""
    return shortened(os.path.basename(path).partition(".")[0])


_DECODER = msgspec.json.Decoder(Report)


def read_all(paths: Sequence[str], now: float, until: float = math.inf) -> list[NodeReport | Unusual]:
    """Read some files, and skip those that do not respond.

    Args:
        paths: of the files.
        now: seconds since 1970.
        until: the deadline, in ``time.monotonic()`` seconds.
    """
    opened = with_deadline(until, _announce, paths)
    found = with_deadline(until, lambda path: read(path, now), list(opened))
    why = LATE if time.monotonic() >= until else "did not respond"
    return [found.get(path) or unread(path, "unreadable", why) for path in paths]


def _announce(path: str) -> None:
    """Prefetch a file while others are decoded: disks and network file systems are faster with many requests at a time."""
    if not hasattr(os, "posix_fadvise"):
        return
    with contextlib.suppress(OSError, ValueError):  # reading it later reports the error
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            os.posix_fadvise(opened, 0, LARGEST_BYTES, os.POSIX_FADV_WILLNEED)
        finally:
            os.close(opened)


def read(path: str, now: float) -> NodeReport | Unusual:
    """Read one file. Never raises: one bad file must not prevent the merge of the others."""
    try:
        return _read(path, now)
    except OSError as error:
        if error.errno == errno.EFBIG:
            return unread(path, "too large", f"larger than {LARGEST_BYTES >> 20} MiB")
        return unread(path, "unreadable", error.strerror or str(error))
    except Exception as error:  # also a bug of gpucheck
        return unread(path, "unreadable", shortened(f"{type(error).__name__}: {error}"))


def _read(path: str, now: float) -> NodeReport | Unusual:
    data = regular(path, LARGEST_BYTES)
    try:
        report = _DECODER.decode(data)
    except INVALID_JSON as error:
        return _undecoded(path, data, error)
    if report.tool.get("name") != "gpucheck":
        return unread(path, "foreign", "not written by gpucheck")
    if report.schema_version.partition(".")[0] != SUPPORTED:
        return unread(path, "another schema", f"schema {report.schema_version[:20]}, expected {SUPPORTED}.x")
    return _node_report(path, report, now)


def _undecoded(path: str, data: bytes, error: Exception) -> Unusual:
    text = data.strip()
    if not text:
        return unread(path, "half-written", "empty")
    if isinstance(error, msgspec.ValidationError):
        with contextlib.suppress(*INVALID_JSON):
            version = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("schema_version", b"")
            if bytes(version).strip(b'"').partition(b".")[0] not in (b"", SUPPORTED.encode()):
                return unread(path, "another schema", f"schema {bytes(version).decode(errors='replace')[:20]}")
        return unread(path, "foreign", shortened(f"not a report: {error}"))
    if text.startswith(b"{") and b'"schema_version"' in text[:2000]:
        return unread(path, "half-written", "it ends too early, or was overwritten in part")
    return unread(path, "foreign", "not JSON")


def _node_report(path: str, report: Report, now: float) -> NodeReport:
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
    """Return a text that is cut after so many characters."""
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
