"""Findings in words: the root cause with its evidence and commands, further causes in short, what follows from each."""

from gpucheck.model import Diagnosis, Report, Severity
from gpucheck.reports._sheet import Sheet
from gpucheck.reports._words import evidence

LABEL, TEXT = 4, 10  # columns of "saw", "do", "more" and of what stands behind them
SHORT_EVIDENCE, SHORT_FIXES, SHORT_AFFECTS = 6, 3, 8


def write(sheet: Sheet, report: Report, verbose: bool) -> None:
    """Write every root cause, the first in full, each with what it explains."""
    roots = [finding for finding in report.findings if finding.explained_by is None]
    for number, root in enumerate(roots):
        followers = [finding for finding in report.findings if finding.explained_by == root.code]
        sheet.blank()
        _write(sheet, root, followers, report, full=number == 0 or verbose, verbose=verbose)
    sheet.blank()


def _write(sheet: Sheet, root: Diagnosis, followers: list[Diagnosis], report: Report, *, full: bool, verbose: bool) -> None:
    error = root.severity is Severity.ERROR
    mark = ("-", "quiet") if root.muted else ("✗", "fail") if error else ("!", "warn")
    sheet.add((root.summary, "title"), label=mark, hang=2)
    sheet.tail((root.code, "quiet"), indent=2)
    if root.muted:
        _labelled(sheet, "muted", root.muted)
    elif root.mute_expired:
        _labelled(sheet, "muted", f"{root.mute_expired}, which is over: it counts again")
    if not all(name in root.summary for name in root.affects):
        limit = len(root.affects) if verbose else SHORT_AFFECTS
        more = f", … ({len(root.affects)} in all)" if len(root.affects) > limit else ""
        _labelled(sheet, "on", ", ".join(root.affects[:limit]) + more)
    if full:
        _write_evidence(sheet, root, report, verbose)
    fixes = root.fix if verbose else root.fix[: SHORT_FIXES if full else 1]
    for number, fix in enumerate(fixes):
        text = fix.text.rstrip().removesuffix("." if fix.command else "").removesuffix(":")
        _labelled(sheet, "or" if number else "do", text + (":" if fix.command else ""))
        if fix.command:
            sheet.command(fix.command, TEXT)
    for follower in followers:
        muted = f" (muted: {follower.muted})" if follower.muted else ""
        sheet.add(follower.summary + muted, indent=LABEL, label=("also", "quiet"), hang=TEXT)
        sheet.tail((follower.code, "quiet"), indent=TEXT)
    if full:
        sheet.command(f"gpucheck explain {root.code}", TEXT, indent=LABEL, label=("more", "quiet"))


def _write_evidence(sheet: Sheet, root: Diagnosis, report: Report, verbose: bool) -> None:
    told = [item for item in root.evidence if item.field.rpartition(".")[2] != "soname"]  # it names the others anyway
    lines = list(dict.fromkeys(evidence(item, report.facts, verbose) for item in told or root.evidence))
    limit = len(lines) if verbose else SHORT_EVIDENCE
    for number, line in enumerate(lines[:limit]):
        _labelled(sheet, "" if number else "saw", line)
    if len(lines) > limit:
        _labelled(sheet, "", f"… {len(lines) - limit} more (-v)")


def _labelled(sheet: Sheet, label: str, text: str) -> None:
    sheet.add(text, indent=LABEL, label=(label, "quiet"), hang=TEXT)
