"""Metrics for the textfile collector of Prometheus' node_exporter: no timestamps, no labels that grow without bound.

Source: prometheus/node_exporter, "Textfile Collector"; prometheus.io, "Metric and label naming". Needs prometheus_client.
"""

import collections
import datetime
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily

from gpucheck.core.model import ProbeStatus, Report, Severity, Status, TrainingRun, Verdict
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.kernel_log import KernelLog
from gpucheck.core.reports.shared.findings import outcomes, roots
from gpucheck.core.reports.shared.limited_text import line
from gpucheck.core.reports.shared.machine import gpu_count, listed_gpus
from gpucheck.core.reports.shared.probe_answers import could_look

GPU_GAUGES = {  # field of a GPU's fact -> what it is; the metric is named like the field
    "memory_total_bytes": "Memory of the GPU",
    "memory_used_bytes": "Memory of the GPU in use",
    "temperature_celsius": "Temperature of the GPU",
    "power_watts": "Power the GPU draws",
    "power_limit_watts": "Power limit in force",
    "utilization_percent": "Share of time in which a kernel ran",
    "clock_event_reasons": "Why the clock is held down: NVML's bit mask",
    "pcie_generation": "PCIe generation of the link now, which drops while the GPU idles",
    "pcie_generation_max": "PCIe generation that the GPU and its slot can do",
    "pcie_width": "PCIe lanes now",
    "pcie_width_max": "PCIe lanes that the GPU and its slot can do",
    "ecc_uncorrected_volatile": "Uncorrectable memory errors since the driver was loaded",
    "ecc_uncorrected_aggregate": "Uncorrectable memory errors over the board's life",
    "remapped_rows_uncorrectable": "Memory rows remapped after uncorrectable errors",
}
TRAINING_GAUGES = {  # field of a training run -> what it is
    "samples_per_second": "Median throughput of the steps after the first",
    "step_seconds": "Median duration of the steps after the first",
    "first_step_seconds": "Duration of the first step, compilation included",
    "peak_memory_bytes": "Peak device memory as TensorFlow counts it",
    "trained_with": "Other devices that trained at the same time, each under the others' load",
}
Labels = dict[str, str]


def render(report: Report) -> str:
    """The text exposition format. Help texts are the same in every file, as the collector demands."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(report))
    return str(generate_latest(registry), "utf-8")


class _Collector:
    """Hands one report's values over; of two samples with the same labels the first is kept."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Every metric, also where its value is zero: an absent metric can't be alerted on."""
        report = self._report
        yield _gauge("info", "The gpucheck that wrote this", [({"version": report.tool.version}, 1)])
        verdicts = [({"verdict": each.value}, report.verdict is each) for each in Verdict]
        yield _gauge("verdict", "1 for the verdict of the last run", verdicts)
        yield _gauge(
            "healthy", "1: no fault was found and everything was looked at", [({}, report.effective_verdict in ("pass", "warn"))]
        )
        yield _gauge("exit_code", "Exit code of the last run in the default style", [({}, report.exit_code)])
        yield _gauge("run_duration_seconds", "Duration of the last run", [({}, report.seconds)])
        if (started := _timestamp(report.started_at)) is not None:
            yield _gauge("run_start_timestamp_seconds", "Start of the last run", [({}, started)])
        yield from self._findings()
        yield from self._probes()
        yield from self._gpus()
        yield from self._training()

    def _findings(self) -> Iterator[GaugeMetricFamily]:
        report = self._report
        counted = [(each.value, sum(root.severity is each for root in roots(report))) for each in Severity]
        yield _gauge("root_causes", "Root causes found, by severity", [({"severity": name}, count) for name, count in counted])
        yield _gauge(
            "finding",
            "1 for each diagnosis found, 0 where it is muted; root is false where another one explains it",
            [
                (
                    {
                        "code": finding.code,
                        "row": finding.row,
                        "severity": finding.severity.value,
                        "scope": finding.scope.value,
                        "root": str(finding.explained_by is None).lower(),
                    },
                    int(finding.muted is None),
                )
                for finding in report.findings
            ],
        )
        yield _gauge(
            "rules",
            "Rules by what became of them",
            [({"status": each.value}, len(outcomes(report, each))) for each in Status],
        )

    def _probes(self) -> Iterator[GaugeMetricFamily]:
        ran = [run for run in self._report.probes if run.status is not ProbeStatus.SKIPPED and run.name != "request"]
        ok = [({"probe": run.name}, could_look(self._report, run)) for run in ran]
        yield _gauge("probe_success", "1: the probe could look", ok)
        yield _gauge("probe_duration_seconds", "Duration of the probe", [({"probe": run.name}, run.seconds) for run in ran])

    def _gpus(self) -> Iterator[GaugeMetricFamily]:
        yield _gauge("gpus", "GPUs this process could use", [({}, gpu_count(self._report))])
        listed = listed_gpus(self._report)
        # Other metrics carry the index alone: joined on it, they get these labels.
        named = [
            ({"gpu": str(gpu.index), "name": gpu.name or "", "uuid": gpu.uuid or "", "pci": gpu.pci_address or ""}, 1)
            for gpu in listed
        ]
        yield _gauge("gpu_info", "Each GPU by its index, name, UUID and PCI address", named)
        driver = self._report.fact(Driver)
        versions = {"version": (driver and driver.version) or "", "cuda": (driver and driver.cuda_version) or ""}
        yield _gauge("driver_info", "NVIDIA's driver and the newest CUDA that it supports", [(versions, 1)] if driver else [])
        log = self._report.fact(KernelLog)
        codes = collections.Counter((str(event.code), event.device or "") for event in (log.events if log else ()))
        xids = [({"code": code, "pci": device}, count) for (code, device), count in codes.items()]
        yield _gauge("xid_messages", "Xid messages in the kernel's log since the driver was loaded, at most 3 alike", xids)
        answers = [({"gpu": str(gpu.index)}, gpu.problem is None) for gpu in listed]
        yield _gauge("gpu_success", "1: NVML could query the GPU", answers)
        for field, meaning in GPU_GAUGES.items():
            values = [({"gpu": str(gpu.index)}, getattr(gpu, field)) for gpu in listed if getattr(gpu, field) is not None]
            yield _gauge(f"gpu_{field}", meaning, values)

    def _training(self) -> Iterator[GaugeMetricFamily]:
        labelled = [(_labels(run), run) for run in self._report.training]
        tried = [(labels, run.status == "passed") for labels, run in labelled if run.status != "skipped"]
        yield _gauge("training_success", "1: the training run passed", tried)
        for field, meaning in TRAINING_GAUGES.items():
            values = [(labels, getattr(run, field)) for labels, run in labelled if getattr(run, field) is not None]
            yield _gauge(f"training_{field}", meaning, values)


def _labels(run: TrainingRun) -> Labels:
    return {
        "strategy": run.strategy,
        "devices": devices(run.devices, ascii=True),
        "precision": run.precision,
        "compiled": str(run.compiled).lower(),
    }


def _gauge(name: str, meaning: str, samples: list[tuple[Labels, Any]]) -> GaugeMetricFamily:
    names = list(samples[0][0]) if samples else []
    family = GaugeMetricFamily(f"gpucheck_{name}", f"{meaning}.", labels=names)
    labelled: set[tuple[str, ...]] = set()
    for labels, value in samples:
        key = tuple(line(str(label)) for label in labels.values())
        if key not in labelled:
            labelled.add(key)
            family.add_metric(key, float(value))
    return family


def _timestamp(text: str) -> float | None:
    try:
        moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment.timestamp()
