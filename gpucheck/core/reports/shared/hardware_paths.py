"""The decision table of hardware paths, with this run's value of each path's first metric. Nothing is estimated."""

from typing import NamedTuple

from gpucheck.core.model import Report, Severity, TrainingRun
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.reports.shared.terminal_text import TerminalText
from gpucheck.core.reports.shared.training import singles
from gpucheck.core.reports.shared.words import significant, size

NOT_MEASURED = "not measured here"
LOCAL_WORKERS = "this machine"  # the cluster of workers on this machine
LABEL_CELLS = 15
Found = tuple[str | None, str]  # the last two fields of a row


class Path(NamedTuple):
    """A row of the table, about one path."""

    option: str
    suited: str  # best use
    limitation: str
    metric: str  # the first metric to check
    measured: str | None  # its value; None: not measured in this run
    fits: str  # whether the path works on this machine, in one line


def paths(report: Report) -> tuple[Path, ...]:
    """Return the rows; empty if nothing was trained."""
    if not report.training:
        return ()
    return tuple(Path(*words, *look(report)) for words, look in _ROWS)


def write(out: TerminalText, report: Report) -> None:
    """Write a line for each path that was tested."""
    rows = [row for row in paths(report) if not row.fits.startswith(("not here", "not tested"))]
    if not rows:
        return
    out.section("which path fits")
    for row in rows:
        metric = f"; {row.metric}: {row.measured}" if row.measured else ""
        out.add(f"{row.fits}{metric}", indent=4, label=row.option, hang=4 + LABEL_CELLS)
    out.blank()


def _passed(report: Report, strategy: str) -> list[TrainingRun]:
    return [run for run in report.training if run.strategy == strategy and run.status == "passed" and run.devices]


def _on_gpus(run: TrainingRun) -> bool:
    return bool(run.devices) and all(name.startswith("GPU") for name in run.devices)


def _rate(run: TrainingRun) -> str:
    return f"trains {significant(run.samples_per_second)} samples/s" if run.samples_per_second else "trains"


def _peak(alone: list[TrainingRun], report: Report) -> str | None:
    peaks = [(run.peak_memory_bytes, run.devices[0]) for run in alone if _on_gpus(run) and run.peak_memory_bytes is not None]
    if not peaks:
        return None
    peak, device = max(peaks, key=lambda pair: pair[0])
    cuda = report.fact(Cuda)
    totals = {f"GPU:{gpu.ordinal}": gpu.memory_total_bytes for gpu in (cuda.devices if cuda else ())}
    total = f" of {size(memory)}" if (memory := totals.get(device)) else ""
    return f"{size(peak)}{total} on {device}"


def _wrong(report: Report) -> dict[str, str]:
    """Return the devices affected by an error, with its code; they may have trained anyway."""
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR and finding.muted is None]
    return {device: finding.code for finding in reversed(errors) for device in finding.affects}


def _single(report: Report) -> Found:
    alone, wrong = _passed(report, "one_device"), _wrong(report)
    peak = _peak([run for run in alone if run.devices[0] not in wrong], report)
    gpus = [run for run in alone if _on_gpus(run)]
    gpu = next((run for run in gpus if run.devices[0] not in wrong), None)
    if gpu is not None:
        return peak, f"fits: {gpu.devices[0]} alone {_rate(gpu)}"
    if gpus:
        return peak, f"not yet: {gpus[0].devices[0]} alone {_rate(gpus[0])}; see {wrong[gpus[0].devices[0]]}"
    cpu = f"; the CPU {_rate(alone[0])}" if alone else ""
    return peak, f"not here: no GPU has trained{cpu}"


def _multi(report: Report) -> Found:
    """Judge the largest mirrored job on GPUs by its scaling efficiency."""
    wrong = _wrong(report)
    tried = [run for run in report.training if run.strategy == "mirrored" and _on_gpus(run) and len(run.devices) > 1]
    if not tried:
        trained = {run.devices[0] for run in _passed(report, "one_device") if _on_gpus(run)}
        return None, f"not here: {'one GPU' if len(trained) == 1 else 'no GPU'} has trained" if len(trained) < 2 else "not tested"
    passed = [run for run in tried if run.status == "passed"]
    names = devices(max(passed or tried, key=lambda run: len(run.devices)).devices)
    if not passed:
        return None, f"not yet: {names} together did not pass"
    run = max(passed, key=lambda run: (run.scaling_efficiency is not None, len(run.devices)))
    if code := next((wrong[device] for device in run.devices if device in wrong), None):
        return None, f"not yet: {devices(run.devices)} train together; see {code}"
    if run.scaling_efficiency is None:
        return None, f"works: {names} train together"
    count, share = len(run.devices), run.scaling_efficiency
    figure = f"runs[{report.training.index(run)}].scaling_efficiency"
    in_finding = any(item.field == figure for finding in report.findings for item in finding.evidence)
    verdict = "inefficient" if in_finding else "fits"
    return (
        f"{100 * share:.0f} % on {devices(run.devices)} (experiment scaling)",
        f"{verdict}: {count} GPUs do the work of {share * count:.1f}",
    )


def _workers(report: Report) -> Found:
    """Judge training with several workers, relative to one device alone."""
    tried = [run for run in report.training if run.strategy == "multi_worker_mirrored"]
    run = next((run for run in tried if run.status == "passed"), None)
    if run is None:
        first = next(iter(tried), None)
        if first is None or first.status == "skipped":
            return None, f"not tested: {'--strategy multi_worker_mirrored tests it' if first is None else first.reason}"
        return None, f"not yet: {first.workers or 'several'} workers together did not pass"
    works = f"works: {run.workers or run.replicas} workers trained together ({run.cluster or LOCAL_WORKERS})"
    shared = run.cluster in (None, LOCAL_WORKERS) and len(set(run.devices)) < len(run.devices)
    single = next(iter(singles(run, report.training)), None)
    if shared or single is None or not run.samples_per_second or not single.samples_per_second:
        return None, works
    share = run.samples_per_second / (run.replicas * single.samples_per_second)
    return f"{100 * share:.0f} % of {run.replicas} × {single.devices[0]} alone", works


def _tpu(report: Report) -> Found:
    """Judge the TPU. Its metric, the time to a target accuracy, is only measured by `gpucheck bench --target-accuracy`."""
    run = next(iter(_passed(report, "tpu")), None)
    if run is not None:
        return None, f"fits: {devices(run.devices)} {_rate(run)}"
    tpu = report.fact(Tpu)
    return None, "not yet: the TPU has not trained" if tpu and tpu.expected else "not here: no TPU"


_ROWS = (
    (("single GPU", "development and moderate training", "one device's memory and throughput", "peak memory"), _single),
    (("multi-GPU", "throughput-limited training", "synchronization overhead", "scaling efficiency"), _multi),
    (("multi-worker", "workloads exceeding one host", "network and operational complexity", "worker utilization"), _workers),
    (("TPU", "large, compatible tensor workloads", "backend and runtime constraints", "time to target accuracy"), _tpu),
)
