"""The report for a terminal: what is wrong and what to run, or what was verified. Everything else only on request."""

import re

from gpucheck.core.model import Diagnosis, Fix, Level, Report, Request, Severity, Status, Verdict
from gpucheck.core.reports.shared.areas import Area, areas
from gpucheck.core.reports.shared.evidence import evidence
from gpucheck.core.reports.shared.findings import followers, gaps, muted, roots, ruled_out, unchecked, why_no_result
from gpucheck.core.reports.shared.headline import verified
from gpucheck.core.reports.shared.machine import versions
from gpucheck.core.reports.shared.terminal_text import Part, TerminalText
from gpucheck.core.reports.shared.words import duration, plural

NOT_CHECKED = "not checked"
_SETS = r"(?s).*\b(?:export|unset) "  # a command that changes the current shell
STATE_STYLES = {"ok": "ok", "WARN": "warn", "FAIL": "fail"}
LABEL, TEXT = 4, 10  # columns of "saw", "do", "more" and of the text after them
SHORT_EVIDENCE, SHORT_FIXES, SHORT_AFFECTS = 3, 3, 8  # one cause fits on 24 lines of 80 columns
REPEATED = r"(?:PCI )?(.+) (?:name|address): \1"  # the object's label already shows the value


def render(
    report: Report, *, width: int, color: bool, ascii: bool, verbose: bool, again: str | None = None, following: str | None = None
) -> str:
    """Render lines no wider than ``width``; only commands may be wider, because they are never broken.

    Args:
        report: the report.
        width: terminal cells per line.
        color: whether to use escape codes.
        ascii: whether to use only ASCII.
        verbose: whether to add every cause that was not checked, every probe, experiments and hardware paths; the last two are
            always printed after ``--full`` and ``--soak``.
        again: the command to check again; None: not printed.
        following: the command to run next after a pass; None: not printed.
    """
    out = TerminalText(width=width, color=color, ascii=ascii)
    tool, *others = versions(report)
    out.flow((tool, "title"), *others)
    out.blank()
    _areas(out, areas(report))
    if report.training and (verbose or not _omits_training(report)):
        from gpucheck.core.reports.shared import terminal_training  # --quick does not need it

        terminal_training.write(out, report.training)
    request = report.fact(Request)
    if verbose or (request and (request.level == Level.FULL or request.soak_minutes)):
        from gpucheck.core.reports.shared import experiments, hardware_paths

        experiments.write(out, report)
        hardware_paths.write(out, report)
        experiments.write_conclusion(out, report)
    write_findings(out, report, verbose)
    if verbose:
        _not_checked(out, report)
        if codes := ruled_out(report):
            out.section("ruled out")
            out.add(", ".join(codes), indent=4)
        _probes(out, report)
    out.blank()
    _conclusion(out, report, verbose)
    if again:
        _again(out, report, again)
    if following:
        out.command(following, 0, label="Next: ")
    return str(out)


def _again(out: TerminalText, report: Report, command: str) -> None:
    """Write the command to check again if a root cause's first repair is a command: otherwise it fails again in this shell."""
    repairs = [fix for root in roots(report) for fix in root.fix[:1] if fix.command]
    if any(fix.kind != "look" for fix in repairs):
        sets = any(re.match(_SETS, fix.command or "") for fix in repairs)
        out.command(command, 0, label="Then, in the same shell: " if sets else "Then: ")


def _omits_training(report: Report) -> bool:
    """Whether to omit the table: only the CPU trained, and the run fails without an accelerator."""
    trained = all(run.status == "passed" and all(name.startswith("CPU") for name in run.devices) for run in report.training)
    return report.verdict is Verdict.FAIL and trained and not report.experiments


def _areas(out: TerminalText, every: list[Area]) -> None:
    """Write the checklist: a line per area; areas skipped for the same reason share a line."""
    unseen: dict[str, list[str]] = {}
    for area in every:
        if area.state == "–" and area.words.startswith(NOT_CHECKED):
            unseen.setdefault(area.words, []).append(area.name)
            continue
        label: Part = (f"{area.name:12} {area.state}", STATE_STYLES.get(area.state, "quiet"))
        words: Part = (area.words, "quiet") if area.state == "follows" else area.words
        out.add(words, indent=2, label=label, hang=24 if out.width >= 50 else 4)
    for reason, names in unseen.items():
        out.add(f"{', '.join(names)}: {reason}", indent=2, hang=4)


def write_findings(out: TerminalText, report: Report, verbose: bool) -> None:
    """Write every root cause, the first in full, each with what it explains."""
    for number, root in enumerate(finding for finding in report.findings if finding.explained_by is None):
        out.blank()
        _finding(out, root, report, full=number == 0 or verbose, verbose=verbose)
    out.blank()


def _finding(out: TerminalText, root: Diagnosis, report: Report, *, full: bool, verbose: bool) -> None:
    mark = ("-", "quiet") if root.muted else ("✗", "fail") if root.severity is Severity.ERROR else ("!", "warn")
    out.add((root.summary, "title"), label=mark, hang=2)
    out.tail((root.code, "code"), indent=2)
    out.add((f"first check: {root.first_check}", "quiet"), indent=2, hang=4)
    if root.muted:
        _labelled(out, "muted", root.muted)
    elif root.mute_expired:
        _labelled(out, "muted", f"{root.mute_expired}, which has expired: it affects the verdict again")
    if not all(name in root.summary for name in root.affects):
        limit = len(root.affects) if verbose else SHORT_AFFECTS
        more = f", … ({len(root.affects)} in total)" if len(root.affects) > limit else ""
        _labelled(out, "on", ", ".join(root.affects[:limit]) + more)
    if full:
        _evidence(out, root, report, verbose)
    _fixes(out, root.fix if verbose else root.fix[: SHORT_FIXES if full else 1], verbose)
    _followers(out, followers(report, root), verbose)
    if full:
        out.command(f"gpucheck explain {root.code}", TEXT, indent=LABEL, label=("more", "quiet"))


def _fixes(out: TerminalText, fixes: tuple[Fix, ...], verbose: bool) -> None:
    for number, fix in enumerate(fixes):
        text = fix.text.rstrip().removesuffix("." if fix.command else "").removesuffix(":")
        label = "look" if fix.kind == "look" else "or" if number else "do"
        if label == "or" and text.startswith("Or "):  # the label says it
            text = text[3:4].upper() + text[4:]
        _labelled(out, label, text + (":" if fix.command else ""))
        if fix.command:
            out.command(fix.command, TEXT)
        if verbose and fix.undo:
            _labelled(out, "undo", fix.undo)


def _followers(out: TerminalText, follow: list[Diagnosis], verbose: bool) -> None:
    """Write the consequences of a cause: only their codes, unless everything is requested; the checklist has their evidence."""
    if follow and not verbose:
        names = [follower.code + " (muted)" * bool(follower.muted) for follower in follow]
        _labelled(out, "also", f"{', '.join(names)} {'follows' if len(names) == 1 else 'follow'} from it")
        return
    for follower in follow:
        muted = f" (muted: {follower.muted})" if follower.muted else ""
        _labelled(out, "also", follower.summary + muted)
        out.tail((follower.code, "code"), indent=TEXT)


def _evidence(out: TerminalText, root: Diagnosis, report: Report, verbose: bool) -> None:
    named = [item for item in root.evidence if item.field.rpartition(".")[2] != "soname"]  # it lists the others anyway
    every = dict.fromkeys(evidence(item, report, verbose) for item in named or root.evidence)
    lines = [line for line in every if verbose or not re.fullmatch(REPEATED, line)] or list(every)
    limit = len(lines) if verbose or len(lines) <= SHORT_EVIDENCE else SHORT_EVIDENCE - 1
    for number, line in enumerate(lines[:limit]):
        _labelled(out, "" if number else "saw", line)
    if len(lines) > limit:
        _labelled(out, "", f"… {len(lines) - limit} more (-v)")


def _labelled(out: TerminalText, label: str, text: str) -> None:
    out.add(text, indent=LABEL, label=(label, "quiet"), hang=TEXT)


def _not_checked(out: TerminalText, report: Report) -> None:
    reasons: dict[str, list[str]] = {}
    for outcome in unchecked(report):
        crashed = "crashed, please report it: " if outcome.status is Status.CRASHED else ""
        reasons.setdefault(f"{crashed}{outcome.reason or 'no reason given'}", []).append(outcome.code)
    if reasons:
        out.section("not checked")
        for reason, codes in reasons.items():
            out.add(reason, indent=4)
            out.add(", ".join(codes), indent=6)


def _probes(out: TerminalText, report: Report) -> None:
    out.section("probes")
    for run in report.probes:
        if run.name == "request":
            continue
        no_answer = why_no_result(report, run)
        status = "no answer" if no_answer else run.status.value.replace("_", " ")
        label = f"{run.name:14} {status:9} {duration(run.seconds) if run.seconds else '–':>7}"
        out.add(run.problem or no_answer or "", indent=4, label=label, hang=40 if out.width >= 70 else 8)


def _conclusion(out: TerminalText, report: Report, verbose: bool) -> None:
    if report.verdict is Verdict.UNKNOWN:
        _unknown(out, report.unknown_because)
    elif report.verdict is Verdict.WARN and report.exit_code:
        out.add(("Failed: with --strict, warnings are faults.", "fail"))
    elif report.verdict is not Verdict.FAIL:
        out.add((verified(report), "ok" if report.verdict is Verdict.PASS else "warn"))
    elif verbose and report.unknown_because:
        for reason in report.unknown_because:
            out.add(reason, indent=2, label=("–", "quiet"), hang=4)
        out.blank()
    counts = _counts(report)
    parts = [part for count in counts for part in (", ", count)][1:]
    out.add(*parts, " · " if counts else "", _ruled_out(report, verbose), f" · {duration(report.seconds)}")


def _counts(report: Report) -> list[Part]:
    counts: list[Part] = []
    for severity, style in ((Severity.ERROR, "fail"), (Severity.WARNING, "warn")):
        if count := sum(root.severity is severity for root in roots(report)):
            counts.append((plural(count, severity.value), style))
    if muted(report):
        counts.append(f"{len(muted(report))} muted")
    return counts


def _unknown(out: TerminalText, reasons: tuple[str, ...]) -> None:
    first, *more = reasons or ("no reason given",)
    out.add((f"No verdict: {first}", "warn"), hang=2)
    for reason in more:
        out.add((f"and: {reason}", "warn"), indent=2, hang=4)


def _ruled_out(report: Report, verbose: bool) -> str:
    words = [f"{plural(len(ruled_out(report)), 'cause')} ruled out", *gaps(report)]
    return ", ".join(words) + (" (use -v for details)" if len(words) > 1 and not verbose else "")
