"""Metrics for the textfile collector of Prometheus' node_exporter: no timestamps, no labels with unbounded values.

Source: prometheus/node_exporter, "Textfile Collector"; prometheus.io, "Metric and label naming" and
"Exposition formats", the text-based format.
"""

import collections
import datetime
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpucheck.core.model import Level, ProbeStatus, Report, Request, Severity, Status, TrainingRun, Verdict
from gpucheck.core.model.findings import OF_PROCESS
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.kernel_log import KernelLog
from gpucheck.core.reports.shared.findings import has_result, outcomes, roots
from gpucheck.core.reports.shared.limited_text import line
from gpucheck.core.reports.shared.machine import gpu_count, listed_gpus

Labels = dict[str, str]
GPU_GAUGES = {  # field of a GPU's fact -> description; the metric has the field's name
    "memory_total_bytes": "Memory of the GPU",
    "memory_used_bytes": "Memory of the GPU in use",
    "temperature_celsius": "Temperature of the GPU",
    "power_watts": "Power the GPU draws",
    "power_limit_watts": "Power limit in force",
    "utilization_percent": "Share of time in which a kernel ran",
    "clock_event_reasons": "Why the clock is reduced, as NVML's bit mask",
    "pcie_generation": "Current PCIe generation of the link, which drops while the GPU is idle",
    "pcie_generation_max": "Maximum PCIe generation of the GPU in its slot",
    "pcie_width": "Current PCIe lanes",
    "pcie_width_max": "Maximum PCIe lanes of the GPU in its slot",
    "ecc_uncorrected_volatile": "Uncorrectable memory errors since the driver was loaded",
    "ecc_uncorrected_aggregate": "Uncorrectable memory errors over the board's life",
    "remapped_rows_uncorrectable": "Memory rows remapped after uncorrectable errors",
    "remapping_pending": "1: a memory row is remapped at the next reset",
    "remapping_failed": "1: a memory row could not be remapped",
    "fabric_status": "NVML's result of the registration with the NVSwitch fabric; 0 for success",
}
TRAINING_GAUGES = {  # field of a training run -> description
    "samples_per_second": "Median throughput of the steps after the first",
    "step_seconds": "Median duration of the steps after the first",
    "first_step_seconds": "Duration of the first step, compilation included",
    "peak_memory_bytes": "Peak device memory as TensorFlow counts it",
    "trained_with": "Number of other devices that trained at the same time, which lowers the rates",
}


class Gauge(NamedTuple):
    """One metric, ``gpucheck_NAME``. Of samples with equal labels, the first is written."""

    name: str
    meaning: str  # without a full stop; the same in every file, as node_exporter's textfile collector requires
    samples: Sequence[tuple[Labels, float]]


def render(report: Report) -> str:
    """Render the text exposition format. Help texts are the same in every file, as the collector requires."""
    return exposition([*_run(report), *_findings(report), *_probes(report), *_gpus(report), *_training(report)])


def _run(report: Report) -> Iterator[Gauge]:
    """Yield every metric, including zeros: an absent metric can't trigger an alert."""
    yield Gauge("info", "The version of gpucheck that wrote this", [({"version": report.tool.version}, 1)])
    verdicts = [({"verdict": each.value}, report.verdict is each) for each in Verdict]
    yield Gauge("verdict", "1 for the verdict of the last run", verdicts)
    healthy = report.effective_verdict in ("pass", "warn")
    yield Gauge("healthy", "1: no fault was found and everything was checked", [({}, healthy)])
    yield Gauge("exit_code", "Exit code of the last run in the default style", [({}, report.exit_code)])
    yield Gauge("run_duration_seconds", "Duration of the last run", [({}, report.seconds)])
    if (started := _timestamp(report.started_at)) is not None:
        yield Gauge("run_start_timestamp_seconds", "Start of the last run", [({}, started)])


def _findings(report: Report) -> Iterator[Gauge]:
    counted = [(each.value, sum(root.severity is each for root in roots(report))) for each in Severity]
    yield Gauge("root_causes", "Root causes found, by severity", [({"severity": name}, count) for name, count in counted])
    of_process = OF_PROCESS if (report.fact(Request) or Request()).level is Level.NODE else ()  # not about the node
    yield Gauge(
        "finding",
        "1 for each diagnosis found, 0 if it does not affect the verdict; root is false if another one explains it",
        [
            (
                {
                    "code": finding.code,
                    "row": finding.row,
                    "severity": finding.severity.value,
                    "scope": finding.scope.value,
                    "action": finding.action.value if finding.action is not None else "",
                    "root": str(finding.explained_by is None).lower(),
                },
                int(finding.muted is None and finding.code not in of_process),
            )
            for finding in report.findings
        ],
    )
    became = [({"status": each.value}, len(outcomes(report, each))) for each in Status]
    yield Gauge("rules", "Number of rules by outcome", became)


def _probes(report: Report) -> Iterator[Gauge]:
    ran = [run for run in report.probes if run.status is not ProbeStatus.SKIPPED and run.name != "request"]
    ok = [({"probe": run.name}, has_result(report, run)) for run in ran]
    yield Gauge("probe_success", "1: the probe got its result", ok)
    yield Gauge("probe_duration_seconds", "Duration of the probe", [({"probe": run.name}, run.seconds) for run in ran])


def _gpus(report: Report) -> Iterator[Gauge]:
    yield Gauge("gpus", "GPUs this process could use", [({}, gpu_count(report))])
    expected = _expected_gpus(report.fact(Request) or Request())
    yield Gauge("gpus_expected", "GPUs that --gres or --expect requires here", [({}, expected)] if expected is not None else [])
    listed = listed_gpus(report)
    # Other metrics only have the index; a join on it adds these labels.
    named = [
        ({"gpu": str(gpu.index), "name": gpu.name or "", "uuid": gpu.uuid or "", "pci": gpu.pci_address or ""}, 1)
        for gpu in listed
    ]
    yield Gauge("gpu_info", "Each GPU by its index, name, UUID and PCI address", named)
    driver = report.fact(Driver)
    versions = {"version": (driver and driver.version) or "", "cuda": (driver and driver.cuda_version) or ""}
    yield Gauge("driver_info", "NVIDIA's driver and the newest CUDA that it supports", [(versions, 1)] if driver else [])
    log = report.fact(KernelLog)
    codes = collections.Counter((str(event.code), event.device or "") for event in (log.events if log else ()))
    xids = [({"code": code, "pci": device}, count) for (code, device), count in codes.items()]
    yield Gauge("xid_messages", "Xid messages in the kernel log since the driver was loaded, at most 3 of a kind", xids)
    answers = [({"gpu": str(gpu.index)}, gpu.problem is None) for gpu in listed]
    yield Gauge("gpu_success", "1: NVML could query the GPU", answers)
    for field, meaning in GPU_GAUGES.items():
        values = [({"gpu": str(gpu.index)}, getattr(gpu, field)) for gpu in listed if getattr(gpu, field) is not None]
        yield Gauge(f"gpu_{field}", meaning, values)
    linked = [gpu for gpu in listed if gpu.nvlinks]
    yield Gauge("gpu_nvlinks", "NVLinks of the GPU", [({"gpu": str(gpu.index)}, len(gpu.nvlinks)) for gpu in linked])
    active = [({"gpu": str(gpu.index)}, sum(link.active for link in gpu.nvlinks)) for gpu in linked]
    yield Gauge("gpu_nvlinks_active", "NVLinks of the GPU that are active", active)
    states = [({"gpu": str(gpu.index), "state": gpu.fabric_state}, 1) for gpu in listed if gpu.fabric_state]
    yield Gauge("gpu_fabric_state", "State of the registration with the NVSwitch fabric", states)


def _expected_gpus(request: Request) -> int | None:
    expected = request.expectations.gpu.count if request.expectations is not None else None
    promised = request.promised.count if request.promised is not None else None
    return promised if expected is None else expected


def _training(report: Report) -> Iterator[Gauge]:
    labeled = [(_labels(run), run) for run in report.training]
    tried = [(labels, run.status == "passed") for labels, run in labeled if run.status != "skipped"]
    yield Gauge("training_success", "1: the training run passed", tried)
    for field, meaning in TRAINING_GAUGES.items():
        values = [(labels, getattr(run, field)) for labels, run in labeled if getattr(run, field) is not None]
        yield Gauge(f"training_{field}", meaning, values)


def _labels(run: TrainingRun) -> Labels:
    return {
        "strategy": run.strategy,
        "devices": devices(run.devices, ascii=True),
        "precision": run.precision,
        "compiled": str(run.compiled).lower(),
    }


def _timestamp(text: str) -> float | None:
    try:
        moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment.timestamp()


def exposition(gauges: Iterable[Gauge]) -> str:
    """Return the text of all metrics, in their order."""
    return "".join(f"{each}\n" for gauge in gauges for each in _lines(gauge))


def _lines(gauge: Gauge) -> Iterator[str]:
    name = f"gpucheck_{gauge.name}"
    yield f"# HELP {name} {gauge.meaning}."
    yield f"# TYPE {name} gauge"
    values: dict[str, float] = {}
    for labels, value in gauge.samples:
        values.setdefault(_text(labels), float(value))
    for labels_text, value in values.items():
        yield f"{name}{labels_text} {value}"


def _text(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in sorted(labels.items()))
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return line(value).replace("\\", "\\\\").replace('"', '\\"')
