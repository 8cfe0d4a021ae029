"""Somebody else's report, judged again with today's rules: a bug report answered without the machine."""

from typing import Any

import msgspec
from msgspec.structs import replace

from gpucheck.engine.pipeline import assemble, gather, judge
from gpucheck.engine.plugin import load_probes, load_rows, load_rules
from gpucheck.files.read import utf8
from gpucheck.model import SCHEMA_VERSION, Expectations, ProbeStatus, Reading, Report, Request

LONGEST_SECONDS = 1e9


class Unreadable(ValueError):
    """The file is no report that today's rules can judge; the message says why, in one line."""


def replay(text: bytes, allow_cpu: bool = False, strict: bool = False, expectations: Expectations | None = None) -> Report:
    """Judge the facts of a report again.

    Args:
        text: a JSON report of this schema's major version; fields that a newer minor one added are passed over. In UTF-8, or
            in UTF-16, in which PowerShell's ``>`` writes it.
        allow_cpu: as the command's option, in addition to what the run was asked.
        strict: likewise.
        expectations: instead of those of the report.

    Returns:
        The report with today's findings; start and seconds are those of the run that looked.

    Raises:
        Unreadable: not JSON, not a report, another version, facts that don't have their types, or a time that no run takes.
    """
    try:
        old = msgspec.json.decode(utf8(text))
    except msgspec.DecodeError as error:
        raise Unreadable(f"not JSON: {error}") from None
    except RecursionError:
        raise Unreadable("not JSON: nested too deeply") from None
    if not isinstance(old, dict) or not isinstance(old.get("facts"), dict) or "schema_version" not in old:
        raise Unreadable("not a gpucheck report: it has no facts or no schema_version")
    _check_version(str(old["schema_version"]))
    try:
        request = msgspec.convert(old["facts"].get("request", {}), Request)
        readings = _readings(old)
        started_at, seconds = str(old.get("started_at", "")), _seconds(old)
    except Unreadable:
        raise
    except (msgspec.ValidationError, TypeError, ValueError, KeyError) as error:
        raise Unreadable(f"a report with facts of other types than schema {SCHEMA_VERSION} has: {error}") from None
    request = replace(
        request,
        allow_cpu=request.allow_cpu or allow_cpu,
        strict=request.strict or strict,
        expectations=expectations or request.expectations,
    )
    judgements = judge(gather(request, readings), load_rules())
    report = assemble(request, readings, judgements, load_rows(), started=0.0)
    return replace(report, started_at=started_at, seconds=seconds)


def _check_version(version: str) -> None:
    try:
        theirs = tuple(int(part) for part in version.split("."))
        ours = tuple(int(part) for part in SCHEMA_VERSION.split("."))
    except ValueError:
        raise Unreadable(f"schema_version {version!r} is no version") from None
    if theirs[0] > ours[0]:  # a newer minor version only added fields
        raise Unreadable(f"written with schema {version}, newer than {SCHEMA_VERSION}: replay it with a newer gpucheck")
    if theirs[:1] != ours[:1]:
        raise Unreadable(f"written with schema {version}, which this gpucheck (schema {SCHEMA_VERSION}) no longer reads")


def _readings(old: dict[str, Any]) -> list[Reading]:
    """One reading per probe of today that the report knows."""
    ran = {str(run["name"]): run for run in old.get("probes", [])}
    readings = []
    for probe in load_probes():
        run, fact = ran.get(probe.name), old["facts"].get(probe.name)
        if run is None and fact is None:
            continue
        run = run or {"status": "ok"}
        status, problem = ProbeStatus(run["status"]), run.get("problem")
        if fact is None and status is ProbeStatus.OK:  # what was not looked at is never counted as healthy
            status, problem = ProbeStatus.FAILED, "the report says that it answered, and has no fact of it"
        readings.append(
            Reading(
                probe=probe.name,
                status=status,
                fact=None if fact is None else msgspec.convert(fact, probe.fact),
                problem=None if problem is None else str(problem),
                seconds=_seconds(run),
            )
        )
    return readings


def _seconds(of: dict[str, Any]) -> float:
    seconds = of.get("seconds") or 0.0
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < LONGEST_SECONDS:
        raise Unreadable(f"seconds: {seconds!r} is no time that a run takes")
    return float(seconds)
