"""A Nagios plugin's output: the state and one line, performance data behind a bar, then long text. Below 4 KB.

Source: nagios-plugins.org, "Nagios Plugin Development Guidelines". Its exit code: ``--exit-style nagios``.
"""

from gpucheck.model import Report, Severity, Status, Verdict
from gpucheck.model.naming import devices
from gpucheck.reports._areas import gpu_count
from gpucheck.reports._headline import followers, headline, outcomes, roots, state
from gpucheck.reports._text import cut, fit, line

STATES = {"pass": "OK", "warn": "WARNING", "fail": "CRITICAL", "unknown": "UNKNOWN"}
LIMIT_BYTES = 4000
FIRST_BYTES, PERFORMANCE_BYTES = 400, 1600


def render(report: Report) -> str:
    """``GPUCHECK CRITICAL - gpu-lost: text | 'label'=value...``, then one line per further finding and per command."""
    found = roots(report)
    code = f"{found[0].code}: " if found and report.verdict is not Verdict.UNKNOWN else ""
    first = cut(_text(f"GPUCHECK {STATES[state(report)]} - {code}{headline(report)}"), FIRST_BYTES)
    performance = ""
    for datum in _performance(report):
        if len(f"{performance} {datum}".encode()) <= PERFORMANCE_BYTES:
            performance += f" {datum}"
    return fit([f"{first} |{performance}", *map(_text, _long(report))], LIMIT_BYTES)


def _long(report: Report) -> list[str]:
    lines = [f"no answer: {reason}" for reason in report.unknown_because]
    for root in roots(report):
        lines.append(f"{root.severity.value} {root.code}: {root.summary}")
        lines += [f"do: {fix.command or fix.text}" for fix in root.fix[:1]]
        lines += [f"also {follower.code}: {follower.summary}" for follower in followers(report, root)]
    return lines


def _text(text: str) -> str:
    """A bar would begin performance data, in the long text too."""
    return line(text).replace("|", "¦")


def _performance(report: Report) -> list[str]:
    """``'label'=value[UOM];warn;crit;min;max``, the most telling first: what doesn't fit is left out."""
    found = roots(report)
    errors = sum(finding.severity is Severity.ERROR for finding in found)
    asked = outcomes(report)
    skipped, crashed = (sum(outcome.status is status for outcome in asked) for status in (Status.SKIPPED, Status.CRASHED))
    data = [
        f"'time'={report.seconds:.3f}s;;;0",
        f"'errors'={errors};;0;0",
        f"'warnings'={len(found) - errors};0;;0",
        f"'not_checked'={skipped};;;0;{len(asked)}",
        f"'crashed'={crashed};;;0;{len(asked)}",
        f"'gpus'={gpu_count(report.facts)};;;0",
    ]
    for gpu in (report.facts.get("gpus") or {}).get("gpus") or ():
        name, used, total = f"gpu{gpu.get('index')}", gpu.get("memory_used_bytes"), gpu.get("memory_total_bytes")
        if used is not None:
            data.append(f"'{name}_memory_used'={used}B;;;0;{'' if total is None else total}")
        if gpu.get("temperature_celsius") is not None:
            data.append(f"'{name}_temperature'={gpu['temperature_celsius']}")
    labels: set[str] = set()
    for run in report.training:
        # A rate under the load of others that trained at the same time is not one to compare with theirs who trained alone.
        how = f"{run.precision}{' XLA' if run.compiled else ''}{' together' if run.trained_with else ''}"
        label = _label(f"{run.strategy} {devices(run.devices, ascii=True)} {how} samples_per_second")
        if run.samples_per_second is not None and label not in labels:
            labels.add(label)
            data.append(f"'{label}'={run.samples_per_second:.6g};;;0")
    return data


def _label(text: str) -> str:
    """A label holds neither quotes nor an equals sign."""
    return _text(text).replace("'", "").replace("=", ":")
