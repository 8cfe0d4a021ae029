"""The report for a person at a terminal: what is wrong and what to type, or what was proved. Nothing else unless asked."""

from gpucheck.compat.keras import OTHERS, TITLES
from gpucheck.model import Level, Report, Severity, Status, Verdict
from gpucheck.reports import _decision, _experiments, _findings, _training
from gpucheck.reports._answers import unanswered
from gpucheck.reports._areas import Area, areas, place
from gpucheck.reports._headline import gaps, proved, unchecked
from gpucheck.reports._sheet import Part, Sheet
from gpucheck.reports._words import duration, plural

STATE_STYLES = {"ok": "ok", "WARN": "warn", "FAIL": "fail"}


def render(report: Report, *, width: int, color: bool, ascii: bool, verbose: bool) -> str:
    """The report as lines no wider than ``width``, commands excepted: they are never broken.

    Args:
        report: what to show.
        width: terminal cells per line.
        color: whether escape codes may be written.
        ascii: whether only ASCII may be written.
        verbose: with every area, every cause that could not be checked, and every probe; with experiments and the paths that
            fit, which are told after ``--full`` too.
    """
    sheet = Sheet(width=width, color=color, ascii=ascii)
    _header(sheet, report)
    if verbose or report.verdict in (Verdict.FAIL, Verdict.UNKNOWN):
        sheet.blank()
        for area in areas(report):
            _area(sheet, area)
    if report.training:
        _training.write(sheet, report.training)
    if verbose or (report.facts.get("request") or {}).get("level") == Level.FULL:
        _experiments.write(sheet, report.experiments)
        _decision.write(sheet, report)
    _findings.write(sheet, report, verbose)
    if verbose:
        _not_checked(sheet, report)
        _probes(sheet, report)
    sheet.blank()
    _conclusion(sheet, report, verbose)
    return str(sheet)


def _header(sheet: Sheet, report: Report) -> None:
    facts = report.facts
    interpreter, packages, driver = (facts.get(name) or {} for name in ("interpreter", "packages", "driver"))
    tensorflow, keras, backend = (facts.get(name) or {} for name in ("tensorflow", "keras", "backend"))
    other = backend.get("name") in OTHERS
    items: list[Part] = [(f"gpucheck {report.tool.version}", "title"), place(facts)]
    if interpreter:
        items.append(f"Python {interpreter.get('version')} ({_environment(interpreter)})")
    installed = packages.get("tensorflow") or {}
    if tensorflow.get("version") or installed:
        flavour = installed.get("name", "tensorflow").replace("tensorflow", "TensorFlow")
        items.append(f"{flavour} {tensorflow.get('version') or installed.get('version')}")
    elif packages and not other:
        items.append("no TensorFlow")
    if other and backend.get("version"):
        items.append(f"{TITLES[backend['name']]} {backend['version']}")
    if version := keras.get("version") or (packages.get("keras") or {}).get("version"):
        items.append(f"Keras {version}" + (f" on {keras['backend']}" if keras.get("backend") else ""))
    if driver.get("version"):
        items.append(f"driver {driver['version']}")
    sheet.flow(items, " · ")


def _environment(interpreter: dict[str, str | None]) -> str:
    kind, prefix = interpreter.get("environment"), (interpreter.get("prefix") or "").replace("\\", "/")
    name = prefix.rstrip("/").rpartition("/")[2]
    if kind == "conda":
        return f"conda {name}"
    return name or kind if kind else "no virtual environment"


def _area(sheet: Sheet, area: Area) -> None:
    state = f"{area.name:12} {area.state}"
    column = 24 if sheet.width >= 50 else 4
    label: Part = (state, STATE_STYLES.get(area.state, "quiet"))
    sheet.add(area.words, indent=2, label=label, hang=column)


def _not_checked(sheet: Sheet, report: Report) -> None:
    reasons: dict[str, list[str]] = {}
    for outcome in unchecked(report):
        crashed = "crashed, please report it: " if outcome.status is Status.CRASHED else ""
        reasons.setdefault(f"{crashed}{outcome.reason or 'no reason given'}", []).append(outcome.code)
    if reasons:
        sheet.blank()
        sheet.add(("not checked", "title"), indent=2)
        for reason, codes in reasons.items():
            sheet.add(reason, indent=4)
            sheet.add(", ".join(codes), indent=6)


def _probes(sheet: Sheet, report: Report) -> None:
    sheet.blank()
    sheet.add(("probes", "title"), indent=2)
    for run in report.probes:
        if run.name == "request":
            continue
        silent = unanswered(report, run)
        status = "no answer" if silent else run.status.value.replace("_", " ")
        label = f"{run.name:14} {status:9} {duration(run.seconds) if run.seconds else '–':>7}"
        sheet.add(run.problem or silent or "", indent=4, label=label, hang=40 if sheet.width >= 70 else 8)


def _conclusion(sheet: Sheet, report: Report, verbose: bool) -> None:
    muted = {finding.code for finding in report.findings if finding.muted is not None}
    counting = [finding for finding in report.findings if finding.code not in muted]
    roots = [finding for finding in counting if finding.explained_by is None or finding.explained_by in muted]
    errors = sum(finding.severity is Severity.ERROR for finding in roots)
    warnings = len(roots) - errors
    counts: list[Part] = [(plural(errors, "error"), "fail")] if errors else []
    if warnings:
        strict = " (a fault with --strict)" if report.exit_code and report.verdict is Verdict.WARN else ""
        counts.append((plural(warnings, "warning") + strict, "warn"))
    if report.verdict is Verdict.UNKNOWN:
        _unknown(sheet, report.unknown_because)
    elif report.verdict is not Verdict.FAIL:
        sheet.add((proved(report), "ok" if report.verdict is Verdict.PASS else "warn"))
    elif verbose and report.unknown_because:
        for reason in report.unknown_because:
            sheet.add(reason, indent=2, label=("–", "quiet"), hang=4)
        sheet.blank()
    if errors and warnings:
        counts.insert(1, ", ")
    if muted:
        counts += [", "] * bool(counts) + [f"{len(muted)} muted"]
    sheet.add(*counts, " · " if counts else "", _ruled_out(report, verbose), f" · {duration(report.seconds)}")


def _unknown(sheet: Sheet, reasons: tuple[str, ...]) -> None:
    first, *more = reasons or ("no reason given",)
    sheet.add((f"No verdict: {first}", "warn"), hang=2)
    for reason in more:
        sheet.add((f"and: {reason}", "warn"), indent=2, hang=4)


def _ruled_out(report: Report, verbose: bool) -> str:
    clear = sum(outcome.status is Status.CLEAR for outcome in report.outcomes)
    words = [f"{plural(clear, 'cause')} ruled out", *gaps(report)]
    return ", ".join(words) + (" (-v says why)" if len(words) > 1 and not verbose else "")
