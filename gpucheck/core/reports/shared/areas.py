"""One line per area of the machine: ok, WARN, FAIL, "follows" (explained by an error elsewhere), or "–" (not checked).

Only findings make an area fail: one root cause is one FAIL.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from gpucheck.core.model import Fact, ProbeStatus, Report, Severity, TrainingRun, probe_of
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.libraries import Libraries
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tensorflow import Device, TensorFlow
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.tpu_resolver import TpuResolver
from gpucheck.core.probes.training import Training
from gpucheck.core.reports.shared.findings import roots
from gpucheck.core.reports.shared.machine import counted, gpu_count, gpu_kind, of_node, system_name


class Area(msgspec.Struct, frozen=True):
    """One line: the area's name, its state ("ok", "WARN", "FAIL", "follows" or "–") and a description."""

    name: str
    state: str
    words: str


class Look(NamedTuple):
    """The state of an area according to its fact."""

    ok: bool | None  # None: not checked, or nothing to check
    words: str


class _Part(NamedTuple):
    fact: type[Fact]  # the fact that describes the area
    others: tuple[str, ...]  # further probes with evidence for findings of this area
    look: Callable[[Any, Report], Look]
    unread: Callable[[Report], str] = lambda report: ""  # what is known about the area if its own probe was skipped

    @property
    def probes(self) -> tuple[str, ...]:
        return probe_of(self.fact), *self.others


def areas(report: Report) -> list[Area]:
    """Return every area, from the operating system up to training; the TPU and the other backend only if present."""
    tpu, backend = report.fact(Tpu), report.fact(Backend)
    needless = {"tpu": not (tpu and tpu.expected), "backend": not (backend and backend.other)}
    if of_node(report):
        needless |= dict.fromkeys(_ENVIRONMENTS, True)
    return [_area(name, part, report) for name, part in _PARTS.items() if not needless.get(name)]


def _area(name: str, part: _Part, report: Report) -> Area:
    fact = report.fact(part.fact)
    ok, words = Look(None, _absent(part.probes[0], report)) if fact is None else part.look(fact, report)
    own = [finding for finding in report.findings if finding.evidence and finding.evidence[0].fact in part.probes]
    named = [finding for finding in own if finding.muted is not None or finding in roots(report)]
    if named and fact is None and _skipped(part.probes[0], report):
        words = part.unread(report)  # "not checked" would contradict the finding
    if named and ok is not False:
        codes = ", ".join(dict.fromkeys(finding.code for finding in named))
        words = f"{words}; see {codes}" if words else f"see {codes}"
    if any(finding.severity is Severity.ERROR and finding.muted is None for finding in named):
        return Area(name, "FAIL", words)
    if named:
        return Area(name, "WARN", words)
    if ok is False and (own or _cited(part, report)):
        return Area(name, "follows", words)
    return Area(name, "ok" if ok else "–", words)


def _cited(part: _Part, report: Report) -> bool:
    """Whether an error of this run has evidence from the area, or the machine has a GPU."""
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR]
    probes = {evidence.fact for finding in errors for evidence in finding.evidence}
    return part.probes[0] in probes or bool(errors and gpu_count(report))


def _absent(probe: str, report: Report) -> str:
    for run in report.probes:
        if run.name == probe:
            return run.problem or ("skipped" if run.status is ProbeStatus.SKIPPED else "no answer")
    return "not checked"


def _skipped(probe: str, report: Report) -> bool:
    return all(run.status is ProbeStatus.SKIPPED for run in report.probes if run.name == probe)


def _system(system: System, report: Report) -> Look:
    words = [system_name(report), system.architecture, f"kernel {system.kernel}" if system.kernel else None]
    return Look(True, ", ".join(word for word in words if word))


def _driver(driver: Driver, report: Report) -> Look:
    if driver.status == "library-not-found":
        return Look(False, "no driver library: libnvidia-ml.so.1 was not found")
    if driver.status != "ok":
        return Look(False, driver.problem or driver.result_name or f"NVML: {driver.status}")
    version = driver.version or "version unknown"
    return Look(True, f"{version}, CUDA {driver.cuda_version}" if driver.cuda_version else version)


def _gpus(fact: Gpus, report: Report) -> Look:
    if not fact.gpus:
        return Look(None, "none")
    lost = [f"GPU {gpu.index}: {gpu.problem}" for gpu in fact.gpus if gpu.problem]
    return Look(not lost, "; ".join([*lost, *counted(gpu_kind(gpu) for gpu in fact.gpus if not gpu.problem)]))


def _cuda(cuda: Cuda, report: Report) -> Look:
    if cuda.status == "library-not-found":
        return Look(False, "no driver library: libcuda.so.1 was not found")
    if cuda.status != "ok":
        return Look(False, cuda.problem or cuda.result_name or f"cuInit: {cuda.status}")
    count = cuda.device_count
    words = "devices not counted" if count is None else f"{count} device" if count == 1 else f"{count} devices"
    return Look(bool(count), f"{words}, CUDA {cuda.driver_version}" if cuda.driver_version else words)


def _libraries(fact: Libraries, report: Report) -> Look:
    needed = [library for library in fact.libraries if library.required]
    if not needed:
        return Look(None, "no TensorFlow that opens CUDA libraries" if fact.tensorflow else "no TensorFlow installed")
    bad = [library.soname for library in needed if not library.path or library.problem or library.opened is False]
    words = f"{len(needed) - len(bad) or 'none'} of TensorFlow's {len(needed)} CUDA libraries"
    return Look(not bad, f"{words}; not {', '.join(bad)}" if 0 < len(bad) < len(needed) else words)


def _tensorflow(tensorflow: TensorFlow, report: Report) -> Look:
    if tensorflow.imported is False:
        return Look(False, f"import failed: {_error(tensorflow) or 'no reason given'}")
    if tensorflow.devices is None:
        stage = f" in the stage {tensorflow.stage}" if tensorflow.stage else ""
        return Look(False, f"device list not reached: {tensorflow.error or tensorflow.ending or 'no answer'}{stage}")
    return _lists(tensorflow.devices, report)


def _installed(report: Report) -> str:
    """Describe a TensorFlow that was not imported, by its metadata."""
    packages = report.fact(Packages)
    if packages is None:
        return ""
    if packages.tensorflow is not None:
        return f"{packages.tensorflow.version} is installed"
    return "" if packages.flavours or packages.tensorflow_folder else "not installed"


def _lists(listed: tuple[Device, ...], report: Report) -> Look:
    """Describe a framework's devices, and how many of the driver's GPUs it sees."""
    gpus, count = [device for device in listed if device.kind == "GPU"], gpu_count(report)
    if count or gpus:
        return Look(len(gpus) >= count, f"sees {len(gpus)} of {max(count, len(gpus))} GPUs")
    names = devices(device.name for device in listed)
    return Look(True, "sees the CPU only" if names == "CPU:0" else f"sees {names or 'no device'}")


def _backend(backend: Backend, report: Report) -> Look:
    if backend.devices is None:
        return Look(
            False if backend.imported is False else None, f"{backend.title}: {_error(backend) or backend.ending or 'no answer'}"
        )
    ok, words = _lists(backend.devices, report)
    return Look(ok, f"{backend.title} {words}")


def _keras(keras: Keras, report: Report) -> Look:
    if not keras.imported:
        error = _error(keras) or "no answer"
        reached = error.removeprefix("not reached: ")
        return Look(
            False if keras.imported is False else None, f"{'not tried' if reached != error else 'not imported'}: {reached}"
        )
    source = f" (from {keras.backend_source})" if keras.backend_source not in (None, "default") else ""
    return Look(True, f"{keras.version} on {keras.backend}{source}")


def _error(framework: TensorFlow | Backend | Keras) -> str:
    return ": ".join(filter(None, (framework.error_type, framework.error)))


def _training(fact: Training, report: Report) -> Look:
    if not fact.runs:
        stage = f" in the stage {fact.stage}" if fact.ending and fact.stage else ""
        return Look(None, f"nothing was trained: {fact.skipped or fact.ending or 'no run was possible'}{stage}")
    endings = {"failed": "failed", "timed_out": "timed out", "passed": "passed", "skipped": "skipped"}
    by_status = {status: [run for run in fact.runs if run.status == status] for status in endings}
    words = "; ".join(f"{_strategies(runs)} {endings[status]}" for status, runs in by_status.items() if runs)
    if by_status["failed"]:
        return Look(False, words)
    on_gpu = any(not name.startswith("CPU") for run in by_status["passed"] for name in run.devices)
    verified = by_status["passed"] and not by_status["timed_out"] and (on_gpu or not gpu_count(report))
    return Look(True if verified else None, words)


def _strategies(runs: Iterable[TrainingRun]) -> str:
    """List each strategy with its devices, each device once."""
    jobs: dict[str, dict[tuple[str, ...], None]] = {}  # the devices of each job, in order
    for run in runs:
        jobs.setdefault(run.strategy, {})[run.devices] = None
    return ", ".join(f"{strategy} {_together(list(each))}".rstrip() for strategy, each in jobs.items())


def _together(jobs: list[tuple[str, ...]]) -> str:
    return devices(jobs[0] if len(jobs) == 1 else dict.fromkeys(name for names in jobs for name in names))


def _tpu(tpu: Tpu, report: Report) -> Look:
    resolver = report.fact(TpuResolver)
    words = ", ".join(counted(f"TPU {kind}" for kind in tpu.generations)) or "expected"
    if resolver and resolver.connected:
        return Look(True, f"{words}; TensorFlow lists {resolver.devices} devices")
    if resolver and resolver.connected is False:
        return Look(False, f"{words}; not connected: {resolver.error or 'no reason given'}")
    return Look(None, f"{words}; not connected: {(resolver and resolver.reason) or 'not tried'}")


_ENVIRONMENTS = ("libraries", "tensorflow", "keras", "training")  # of a Python environment; a node may have many environments
_PARTS = {
    "system": _Part(System, ("wsl", "container", "limits", "interpreter", "environment", "cluster"), _system),
    "driver": _Part(Driver, ("kernel_module", "device_nodes"), _driver),
    "gpus": _Part(Gpus, ("pci", "kernel_log"), _gpus),
    "cuda": _Part(Cuda, (), _cuda),
    "libraries": _Part(Libraries, (), _libraries),
    "tensorflow": _Part(TensorFlow, ("packages", "log"), _tensorflow, _installed),
    "backend": _Part(Backend, (), _backend),
    "keras": _Part(Keras, (), _keras),
    "training": _Part(Training, (), _training),
    "tpu": _Part(Tpu, ("tpu_resolver",), _tpu),
}
