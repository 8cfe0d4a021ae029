"""Findings that the user knows of: they stay in the report and don't count, until their day is over."""

import datetime
from collections.abc import Iterable

from msgspec.structs import replace

from gpucheck.core.model import Diagnosis, Mute


def mute(findings: Iterable[Diagnosis], mutes: Iterable[Mute], today: datetime.date) -> tuple[Diagnosis, ...]:
    """Mark the findings that are muted on that day (UTC), and those whose mute is over.

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
