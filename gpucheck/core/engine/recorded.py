"""Reports read back from JSON as typed facts, and judged again with the current rules, so that a bug report needs no machine."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from gpucheck.core.compat.keras import TITLES
from gpucheck.core.engine.discovery import load_probes, load_rows, load_rules
from gpucheck.core.engine.judgement import judge
from gpucheck.core.engine.pipeline import assemble, gather
from gpucheck.core.model import SCHEMA_VERSION, Expectations, Fact, ProbeStatus, Reading, Report, Request
from gpucheck.core.probes.training import Training
from gpucheck.core.system.read import INVALID_JSON, utf8

_NOTHING = msgspec.Raw(b"null")
LONGEST_SECONDS = 1e9
NO_FACT = "its status in the report is ok, but the report has no fact of it"


class Unreadable(ValueError):
    """The file is not a report that this gpucheck can read; the message is one line."""


class Recording(NamedTuple):
    """The request and the readings of a run, from its report."""

    request: Request
    readings: list[Reading]  # one per current probe that the report contains
    started_at: str
    seconds: float


class _Run(msgspec.Struct, kw_only=True):
    """A ``ProbeRun`` as written, not validated."""

    name: str
    status: Any = ProbeStatus.OK  # a later version may have others
    seconds: Any = None
    problem: Any = None


def load(text: bytes) -> Recording:
    """Read a JSON report of this schema's major version; fields of newer minor versions are ignored.

    Args:
        text: in UTF-8, or in UTF-16 as PowerShell's ``>`` writes it.

    Raises:
        Unreadable: not JSON, not a report, another version, facts of a wrong type, or an invalid time.
    """
    parts = _decoded(utf8(text), dict[str, msgspec.Raw])
    written = _decoded(parts.get("facts", _NOTHING), dict[str, msgspec.Raw]) if parts else None
    if not parts or written is None or "schema_version" not in parts:
        raise Unreadable("not a gpucheck report: it has no facts or no schema_version")
    plain = {name: _decoded(parts[name], Any) for name in ("schema_version", "started_at", "seconds") if name in parts}
    _check_version(str(plain["schema_version"]))
    try:
        facts = {
            name: msgspec.json.decode(written[name], type=kind)
            for name, kind in fact_types().items()
            if written.get(name, _NOTHING) != _NOTHING
        }
        runs = msgspec.json.decode(parts["probes"], type=list[_Run]) if "probes" in parts else []
        readings = _readings(facts, runs)
    except Unreadable:
        raise
    except (msgspec.ValidationError, TypeError, KeyError) as error:
        raise Unreadable(f"a report whose facts have other types than in schema {SCHEMA_VERSION}: {error}") from None
    except INVALID_JSON as error:
        raise Unreadable(f"not JSON: {error}") from None
    request = facts.get("request")
    recording = Recording(
        request=request if isinstance(request, Request) else Request(),
        readings=readings,
        started_at=str(plain.get("started_at", "")),
        seconds=_seconds(plain.get("seconds")),
    )
    _check_backends(recording.request, facts.get("training"))
    return recording


def replay(text: bytes, allow_cpu: bool = False, strict: bool = False, expectations: Expectations | None = None) -> Report:
    """Judge the facts of a report again.

    Args:
        text: a JSON report, see ``load``.
        allow_cpu: the option --allow-cpu, in addition to the recorded request.
        strict: the option --strict, in addition to the recorded request.
        expectations: instead of those of the report.

    Returns:
        The report with current findings; ``started_at`` and ``seconds`` are those of the recorded run.

    Raises:
        Unreadable: not a report that this gpucheck can read.
    """
    recording = load(text)
    request = replace(
        recording.request,
        allow_cpu=recording.request.allow_cpu or allow_cpu,
        strict=recording.request.strict or strict,
        expectations=expectations or recording.request.expectations,
    )
    judgements = judge(gather(request, recording.readings), load_rules())
    report = assemble(request, recording.readings, judgements, load_rows(), started=0.0)
    return replace(report, started_at=recording.started_at, seconds=recording.seconds)


def fact_types() -> dict[str, type[Fact]]:
    """Return the type of each probe's fact, and of the request, by name."""
    return {**{probe.name: probe.fact for probe in load_probes()}, "request": Request}


def _decoded(text: bytes | msgspec.Raw, kind: Any) -> Any:
    """Decode JSON as a type; None if it has another. Fields outside the type are skipped and take no memory."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        return None
    except RecursionError:
        raise Unreadable("not JSON: nested too deeply") from None
    except INVALID_JSON as error:
        raise Unreadable(f"not JSON: {error}") from None


def _check_version(version: str) -> None:
    try:
        theirs = tuple(int(part) for part in version.split("."))
        ours = tuple(int(part) for part in SCHEMA_VERSION.split("."))
    except ValueError:
        raise Unreadable(f"schema_version {version!r} is not a version") from None
    if theirs[0] > ours[0]:  # newer minor versions only add fields
        raise Unreadable(f"written with schema {version}, newer than {SCHEMA_VERSION}: replay it with a newer gpucheck")
    if theirs[0] < ours[0]:
        raise Unreadable(f"written with schema {version}, which this gpucheck (schema {SCHEMA_VERSION}) no longer reads")


def _check_backends(request: Request, training: Fact | None) -> None:
    """Check that each backend is known, because reports print its title."""
    trained = [run.backend for run in training.runs] if isinstance(training, Training) else []
    for backend in (request.backend or "tensorflow", *trained):
        if backend not in TITLES:
            raise Unreadable(f"trained with the backend {backend!r}; this gpucheck supports {', '.join(TITLES)}")


def _readings(facts: Mapping[str, Fact], written: list[_Run]) -> list[Reading]:
    """Return one reading per current probe that the report contains."""
    runs = {run.name: run for run in written}
    readings = []
    for probe in load_probes():
        name, fact = probe.name, facts.get(probe.name)
        if name not in runs and fact is None:
            continue
        run = runs.get(name) or _Run(name=name)
        status, problem = msgspec.convert(run.status, ProbeStatus), msgspec.convert(run.problem, str | None)
        if fact is None and status is ProbeStatus.OK:  # what was not observed never counts as healthy
            status, problem = ProbeStatus.FAILED, NO_FACT
        readings.append(Reading(probe=name, status=status, fact=fact, problem=problem, seconds=_seconds(run.seconds)))
    return readings


def _seconds(seconds: Any) -> float:
    if seconds is None:
        return 0.0
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < LONGEST_SECONDS:
        raise Unreadable(f"seconds: {seconds!r} is not a valid duration")
    return float(seconds)
