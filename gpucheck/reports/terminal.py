"""The report for a person at a terminal: what is wrong and what to type, or what was proved. Nothing else unless asked."""

from gpucheck.model import Level, Report, Severity, Status, Verdict
from gpucheck.reports import _findings, _training
from gpucheck.reports._areas import Area, areas, gpu_count, gpu_names, place
from gpucheck.reports._sheet import Part, Sheet
from gpucheck.reports._words import devices, duration, plural

STATE_STYLES = {"ok": "ok", "WARN": "warn", "FAIL": "fail"}


def render(report: Report, *, width: int, color: bool, ascii: bool, verbose: bool) -> str:
    """The report as lines no wider than ``width``, commands excepted: they are never broken.

    Args:
        report: what to show.
        width: terminal cells per line.
        color: whether escape codes may be written.
        ascii: whether only ASCII may be written.
        verbose: with every area, every cause that could not be checked, and every probe.
    """
    sheet = Sheet(width=width, color=color, ascii=ascii)
    _header(sheet, report)
    if verbose or report.verdict in (Verdict.FAIL, Verdict.UNKNOWN):
        sheet.blank()
        for area in areas(report):
            _area(sheet, area)
    if report.training:
        _training.write(sheet, report.training)
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
    tensorflow, keras = (facts.get(name) or {} for name in ("tensorflow", "keras"))
    items: list[Part] = [(f"gpucheck {report.tool.version}", "title"), place(facts)]
    if interpreter:
        items.append(f"Python {interpreter.get('version')} ({_environment(interpreter)})")
    installed = packages.get("tensorflow") or {}
    if tensorflow.get("version") or installed:
        flavour = installed.get("name", "tensorflow").replace("tensorflow", "TensorFlow")
        items.append(f"{flavour} {tensorflow.get('version') or installed.get('version')}")
    elif packages:
        items.append("no TensorFlow")
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
    for outcome in report.outcomes:
        if outcome.status in (Status.SKIPPED, Status.CRASHED):
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
        status = run.status.value.replace("_", " ")
        if run.name == "request":
            continue
        label = f"{run.name:14} {status:9} {duration(run.seconds) if run.seconds else '–':>7}"
        sheet.add(run.problem or "", indent=4, label=label, hang=40 if sheet.width >= 70 else 8)


def _conclusion(sheet: Sheet, report: Report, verbose: bool) -> None:
    roots = [finding for finding in report.findings if finding.explained_by is None]
    errors = sum(finding.severity is Severity.ERROR for finding in roots)
    warnings = len(roots) - errors
    counts: list[Part] = [(plural(errors, "error"), "fail")] if errors else []
    if warnings:
        strict = " (a fault with --strict)" if report.exit_code and report.verdict is Verdict.WARN else ""
        counts.append((plural(warnings, "warning") + strict, "warn"))
    if report.verdict is Verdict.UNKNOWN:
        _unknown(sheet, report.unknown_because)
    elif report.verdict is not Verdict.FAIL:
        sheet.add((_proved(report), "ok" if report.verdict is Verdict.PASS else "warn"))
    elif verbose and report.unknown_because:
        for reason in report.unknown_because:
            sheet.add(reason, indent=2, label=("–", "quiet"), hang=4)
        sheet.blank()
    if errors and warnings:
        counts.insert(1, ", ")
    sheet.add(*counts, " · " if counts else "", _ruled_out(report, verbose), f" · {duration(report.seconds)}")


def _unknown(sheet: Sheet, reasons: tuple[str, ...]) -> None:
    first, *more = reasons or ("no reason given",)
    sheet.add((f"No verdict: {first}", "warn"), hang=2)
    for reason in more:
        sheet.add((f"and: {reason}", "warn"), indent=2, hang=4)


def _ruled_out(report: Report, verbose: bool) -> str:
    count = {status: sum(outcome.status is status for outcome in report.outcomes) for status in Status}
    words = [f"{plural(count[Status.CLEAR], 'cause')} ruled out"]
    if count[Status.SKIPPED]:
        words.append(f"{count[Status.SKIPPED]:,} not checked")
    if count[Status.CRASHED]:
        words.append(f"{plural(count[Status.CRASHED], 'check')} crashed")
    return ", ".join(words) + (" (-v says why)" if len(words) > 1 and not verbose else "")


def _proved(report: Report) -> str:
    """What a run without errors showed, and never more than that."""
    facts = report.facts
    request = facts.get("request") or {}
    cpu_only = "the CPU only (--allow-cpu): no accelerator was found"
    accelerator = gpu_count(facts) or (facts.get("tpu") or {}).get("expected")
    if not report.training:
        scope = "" if accelerator else f", for {cpu_only}"
        if request.get("level") == Level.QUICK:
            return f"No fault found by the quick checks{scope}; TensorFlow and training were not looked at (--quick)."
        return f"No fault found{scope}; training was not looked at" + ("." if request.get("smoke", True) else " (--no-smoke).")
    passed = [run for run in report.training if run.status == "passed"]
    how = ", ".join(dict.fromkeys(run.strategy for run in passed)) or "nothing"
    trained = sorted({name for run in passed for name in run.devices if not name.startswith("CPU")}, key=_numbered)
    if not trained:
        found = f"the CPU only: {gpu_names(facts) or 'an accelerator'} was found, and not trained"
        return f"Ready for {found if accelerator else cpu_only}; {how} trained on the CPU."
    agree = ", replicas agree" if any(run.replicas > 1 and run.replicas_equal for run in passed) else ""
    total = gpu_count(facts)
    names = gpu_names(facts) or devices(tuple(trained))
    if total > len(trained):
        return f"Ready on {len(trained)} of {names}: {devices(tuple(trained))} trained ({how}){agree}."
    return f"Ready: {names}{', all' if len(trained) > 1 else ''} trained ({how}){agree}."


def _numbered(name: str) -> tuple[str, int]:
    kind, _, number = name.rpartition(":")
    return kind, int(number) if number.isdigit() else 0
