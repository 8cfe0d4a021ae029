"""A Nagios plugin's output: the state and one line, performance data after a bar, then long text. Below 4 KB.

Source: nagios-plugins.org, "Nagios Plugin Development Guidelines". Its exit code: ``--exit-style nagios``.
"""

from gpucheck.core.model import Report, Severity, Status
from gpucheck.core.model.naming import devices
from gpucheck.core.reports.shared.findings import first_steps, followers, outcomes, root_code, roots
from gpucheck.core.reports.shared.headline import headline
from gpucheck.core.reports.shared.limited_text import cut, fit, line
from gpucheck.core.reports.shared.machine import gpu_count, listed_gpus
from gpucheck.core.reports.shared.training import precision

STATES = {"pass": "OK", "warn": "WARNING", "fail": "CRITICAL", "unknown": "UNKNOWN"}
LIMIT_BYTES = 4000
FIRST_BYTES, PERFORMANCE_BYTES = 400, 1600


def render(report: Report) -> str:
    """Render ``GPUCHECK CRITICAL - gpu-lost: text | 'label'=value...``, then one line per further finding and per command."""
    code = f"{root_code(report)}: " if root_code(report) else ""
    first = cut(_text(f"GPUCHECK {STATES[report.effective_verdict]} - {code}{headline(report)}"), FIRST_BYTES)
    performance = ""
    for datum in _performance(report):
        if len(f"{performance} {datum}".encode()) <= PERFORMANCE_BYTES:
            performance += f" {datum}"
    return fit([f"{first} |{performance}", *map(_text, _long(report))], LIMIT_BYTES)


def _long(report: Report) -> list[str]:
    lines = [f"no verdict: {reason}" for reason in report.unknown_because]
    for root in roots(report):
        lines.append(f"{root.severity.value} {root.code}: {root.summary}")
        lines += [f"do: {step}" for step in first_steps(root)]
        lines += [f"also {follower.code}: {follower.summary}" for follower in followers(report, root)]
    return lines


def _text(text: str) -> str:
    """Replace bars, which start performance data even in the long text."""
    return line(text).replace("|", "¦")


def _performance(report: Report) -> list[str]:
    """Render ``'label'=value[UOM];warn;crit;min;max``, the most important first; what does not fit is omitted."""
    errors = sum(root.severity is Severity.ERROR for root in roots(report))
    in_scope, skipped, crashed = (len(outcomes(report, *only)) for only in ((), (Status.SKIPPED,), (Status.CRASHED,)))
    data = [
        f"'time'={report.seconds:.3f}s;;;0",
        f"'errors'={errors};;0;0",
        f"'warnings'={len(roots(report)) - errors};0;;0",
        f"'not_checked'={skipped};;;0;{in_scope}",
        f"'crashed'={crashed};;;0;{in_scope}",
        f"'gpus'={gpu_count(report)};;;0",
    ]
    for gpu in listed_gpus(report):
        if gpu.memory_used_bytes is not None:
            total = "" if gpu.memory_total_bytes is None else gpu.memory_total_bytes
            data.append(f"'gpu{gpu.index}_memory_used'={gpu.memory_used_bytes}B;;;0;{total}")
        if gpu.temperature_celsius is not None:
            data.append(f"'gpu{gpu.index}_temperature'={gpu.temperature_celsius}")
    labels: set[str] = set()
    for run in report.training:
        # Rates of devices that trained at the same time are not comparable with rates of devices that trained alone.
        how = f"{precision(run)}{' together' if run.trained_with else ''}"
        label = _text(f"{run.strategy} {devices(run.devices, ascii=True)} {how} samples_per_second")
        label = label.replace("'", "").replace("=", ":")  # which are not allowed
        if run.samples_per_second is not None and label not in labels:
            labels.add(label)
            data.append(f"'{label}'={run.samples_per_second:.6g};;;0")
    return data
