"""Findings in words: the root cause with its evidence and commands, further causes in short, what follows from each."""

import re

from gpucheck.core.model import Diagnosis, Fix, Report, Severity
from gpucheck.core.reports.shared.evidence import evidence
from gpucheck.core.reports.shared.findings import followers
from gpucheck.core.reports.shared.terminal_text import TerminalText

LABEL, TEXT = 4, 10  # columns of "saw", "do", "more" and of the text behind them
SHORT_EVIDENCE, SHORT_FIXES, SHORT_AFFECTS = 3, 3, 8  # one cause fits on 24 lines of 80 columns

REPEATED = r"(?:PCI )?(.+) (?:name|address): \1"  # a thing is named by it already


def write(out: TerminalText, report: Report, verbose: bool) -> None:
    """Write every root cause, the first in full, each with what it explains."""
    roots = [finding for finding in report.findings if finding.explained_by is None]
    for number, root in enumerate(roots):
        out.blank()
        _write(out, root, report, full=number == 0 or verbose, verbose=verbose)
    out.blank()


def _write(out: TerminalText, root: Diagnosis, report: Report, *, full: bool, verbose: bool) -> None:
    mark = ("-", "quiet") if root.muted else ("✗", "fail") if root.severity is Severity.ERROR else ("!", "warn")
    out.add((root.summary, "title"), label=mark, hang=2)
    out.tail((root.code, "code"), indent=2)
    out.add((f"first check: {root.first_check}", "quiet"), indent=2, hang=4)
    if root.muted:
        _labelled(out, "muted", root.muted)
    elif root.mute_expired:
        _labelled(out, "muted", f"{root.mute_expired}, which is over: it counts again")
    if not all(name in root.summary for name in root.affects):
        limit = len(root.affects) if verbose else SHORT_AFFECTS
        more = f", … ({len(root.affects)} in all)" if len(root.affects) > limit else ""
        _labelled(out, "on", ", ".join(root.affects[:limit]) + more)
    if full:
        _write_evidence(out, root, report, verbose)
    _write_fixes(out, root.fix if verbose else root.fix[: SHORT_FIXES if full else 1], verbose)
    _write_followers(out, followers(report, root), verbose)
    if full:
        out.command(f"gpucheck explain {root.code}", TEXT, indent=LABEL, label=("more", "quiet"))


def _write_fixes(out: TerminalText, fixes: tuple[Fix, ...], verbose: bool) -> None:
    for number, fix in enumerate(fixes):
        text = fix.text.rstrip().removesuffix("." if fix.command else "").removesuffix(":")
        label = "look" if fix.kind == "look" else "or" if number else "do"
        if label == "or" and text.startswith("Or "):  # which the label says
            text = text[3:4].upper() + text[4:]
        _labelled(out, label, text + (":" if fix.command else ""))
        if fix.command:
            out.command(fix.command, TEXT)
        if verbose and fix.undo:
            _labelled(out, "undo", fix.undo)


def _write_followers(out: TerminalText, follow: list[Diagnosis], verbose: bool) -> None:
    """Write the consequences of a cause: only their codes, unless everything is requested; the checklist has their evidence."""
    if follow and not verbose:
        names = [follower.code + " (muted)" * bool(follower.muted) for follower in follow]
        _labelled(out, "also", f"{', '.join(names)} {'follows' if len(names) == 1 else 'follow'} from it")
        return
    for follower in follow:
        muted = f" (muted: {follower.muted})" if follower.muted else ""
        _labelled(out, "also", follower.summary + muted)
        out.tail((follower.code, "code"), indent=TEXT)


def _write_evidence(out: TerminalText, root: Diagnosis, report: Report, verbose: bool) -> None:
    named = [item for item in root.evidence if item.field.rpartition(".")[2] != "soname"]  # it names the others anyway
    every = dict.fromkeys(evidence(item, report, verbose) for item in named or root.evidence)
    lines = [line for line in every if verbose or not re.fullmatch(REPEATED, line)] or list(every)
    limit = len(lines) if verbose or len(lines) <= SHORT_EVIDENCE else SHORT_EVIDENCE - 1
    for number, line in enumerate(lines[:limit]):
        _labelled(out, "" if number else "saw", line)
    if len(lines) > limit:
        _labelled(out, "", f"… {len(lines) - limit} more (-v)")


def _labelled(out: TerminalText, label: str, text: str) -> None:
    out.add(text, indent=LABEL, label=(label, "quiet"), hang=TEXT)
