"""Reports that are too old, and wrong clocks."""

import math
from collections.abc import Iterable

from msgspec.structs import replace

from gpucheck.commands.fleet.model import Unusual
from gpucheck.commands.fleet.read import NodeReport

AHEAD_SECONDS = 300  # how far a node's clock may be ahead
FIRST_YEAR = "2025"  # gpucheck did not exist before
SAME_COLLECTION_SECONDS = 86_400  # a report that is older than the newest by more is from another collection


def dated(reports: Iterable[NodeReport], max_age: float | None) -> tuple[list[NodeReport], list[Unusual]]:
    """Return the reports, and those whose time is unusual.

    Args:
        reports: of nodes.
        max_age: seconds after which a healthy report expires and has no verdict; faults do not expire. None: never.
    """
    reports = list(reports)
    newest = min((report.age_seconds or 0.0 for report in reports if not _wrong(report)), default=math.inf)
    found = []
    for place, report in enumerate(reports):
        kind, why = _judged(report, newest, max_age)
        if kind is None:
            continue
        found.append(
            Unusual(kind=kind, node=report.node, file=report.file, why=f"{why}: {report.started_at or 'without a date'}")
        )
        if max_age is not None and not report.faulty:
            reports[place] = replace(report, verdict="unknown", unknown_because=why)
    return reports, found


def _judged(report: NodeReport, newest: float, max_age: float | None) -> tuple[str | None, str]:
    if _wrong(report):
        return "wrong clock", "the report's date is impossible, so its age is unknown"
    age = report.age_seconds or 0.0
    if max_age is not None and age > max_age:
        return "old", "the report is older than --max-age"
    if max_age is None and age > newest + SAME_COLLECTION_SECONDS:
        return "old", "the report is more than a day older than the newest"
    return None, ""


def _wrong(report: NodeReport) -> bool:
    return report.age_seconds is None or report.age_seconds < -AHEAD_SECONDS or report.started_at[:4] < FIRST_YEAR
