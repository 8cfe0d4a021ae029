"""Findings that the user knows of: they stay in the report and don't count, until their day is over."""

import datetime
from collections.abc import Iterable

from msgspec.structs import replace

from gpucheck.model import Diagnosis, Mute


def mute(findings: Iterable[Diagnosis], mutes: Iterable[Mute], today: datetime.date) -> tuple[Diagnosis, ...]:
    """Mark the findings that are muted on that day (UTC), and those whose mute is over.

    Args:
        findings: in any order, which is kept.
        mutes: several of one code: the latest counts. What follows from a muted finding is not muted with it.
        today: the last day of a mute still belongs to it.
    """
    latest = {one.code: one for one in sorted(mutes, key=lambda one: one.until)}
    return tuple(finding if finding.code not in latest else _marked(finding, latest[finding.code], today) for finding in findings)


def _marked(finding: Diagnosis, one: Mute, today: datetime.date) -> Diagnosis:
    words = f"{one.reason} until {one.until.isoformat()}"
    return replace(finding, muted=words) if today <= one.until else replace(finding, mute_expired=words)
