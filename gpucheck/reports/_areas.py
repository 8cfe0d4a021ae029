"""One line per area of the machine: ok, WARN, FAIL, or "–" for what was not looked at. Blame comes from the findings only."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gpucheck.compat.keras import OTHERS, TITLES
from gpucheck.model import Diagnosis, ProbeStatus, Report, Severity
from gpucheck.model.naming import devices
from gpucheck.reports._words import size

Told = tuple[bool | None, str]  # whether it looks sound (None: could not look, or nothing there to look at), in words


class Area(NamedTuple):
    """One line: its name, its state ("ok", "WARN", "FAIL" or "–") and what was seen."""

    name: str
    state: str
    words: str


_ENDINGS = {"failed": "failed", "timed_out": "out of time", "passed": "passed", "skipped": "not tried"}  # of training runs


class _Part(NamedTuple):
    probe: str  # the probe that describes the area
    others: tuple[str, ...]  # further probes whose facts a finding of this area may rest on
    tell: Callable[[dict[str, Any], dict[str, Any]], Told]  # its fact, all facts


def areas(report: Report) -> list[Area]:
    """Every area of the report, from the operating system up to training; a TPU's and another backend's where there is one."""
    tpu, backend = (report.facts.get(name) or {} for name in ("tpu", "backend"))
    needless = {"tpu": not tpu.get("expected"), "backend": backend.get("name") not in OTHERS}
    return [_area(name, part, report) for name, part in _PARTS.items() if not needless.get(name)]


def _area(name: str, part: _Part, report: Report) -> Area:
    fact = report.facts.get(part.probe)
    sound, words = (None, _absent(part.probe, report)) if fact is None else part.tell(fact, report.facts)
    blamed = [finding for finding in report.findings if _first(finding) in (part.probe, *part.others)]
    if blamed and sound is not False:
        words += f"; see {', '.join(dict.fromkeys(finding.code for finding in blamed))}"
    if any(finding.severity is Severity.ERROR and finding.muted is None for finding in blamed) or (
        sound is False and _cited(part, report)
    ):
        return Area(name, "FAIL", words)
    if blamed:
        return Area(name, "WARN", words)
    return Area(name, "ok" if sound else "–", words)


def _cited(part: _Part, report: Report) -> bool:
    """Whether what looks unsound stands in a run with an error that rests on it, or on a machine that has a GPU to lose."""
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR]
    probes = {evidence.fact for finding in errors for evidence in finding.evidence}
    return part.probe in probes or bool(errors and gpu_count(report.facts))


def _first(finding: Diagnosis) -> str:
    return finding.evidence[0].fact if finding.evidence else ""


def _absent(probe: str, report: Report) -> str:
    for run in report.probes:
        if run.name == probe:
            return run.problem or ("skipped" if run.status is ProbeStatus.SKIPPED else "no answer")
    return "not looked at"


def gpu_count(facts: dict[str, Any]) -> int:
    """GPUs this process could use: as CUDA counts them, else NVML, else the PCI bus."""
    cuda, gpus, pci = (facts.get(name) or {} for name in ("cuda", "gpus", "pci"))
    return cuda.get("device_count") or len(gpus.get("gpus") or ()) or len(pci.get("gpus") or ())


def gpu_names(facts: dict[str, Any], detailed: bool = False) -> str:
    """GPUs by kind: "8 × NVIDIA H200"; detailed with memory and compute capability. Empty where none is known by name."""
    kinds: dict[str, int] = {}
    for gpu in (facts.get("gpus") or {}).get("gpus") or (facts.get("cuda") or {}).get("devices") or ():
        words = [gpu.get("name") or "GPU of unknown name"]
        if detailed and gpu.get("memory_total_bytes"):
            words.append(size(gpu["memory_total_bytes"]))
        if detailed and gpu.get("compute_capability"):
            words.append("compute capability " + ".".join(map(str, gpu["compute_capability"])))
        kind = ", ".join(words)
        kinds[kind] = kinds.get(kind, 0) + 1
    return ("; " if detailed else ", ").join(f"{count} × {kind}" for kind, count in kinds.items())


def place(facts: dict[str, Any]) -> str:
    """The operating system, and what it runs in: "Ubuntu 24.04.3 LTS in docker"."""
    system, container, wsl = (facts.get(name) or {} for name in ("system", "container", "wsl"))
    name = system.get("os_name") or system.get("platform") or "unknown system"
    if wsl.get("inside"):
        name += f" on WSL{wsl.get('version') or ''}"
    return f"{name} in {container.get('kind') or 'a container'}" if container.get("inside") else name


def _system(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    words = [place(facts), fact.get("architecture"), f"kernel {fact['kernel']}" if fact.get("kernel") else None]
    return True, ", ".join(word for word in words if word)


def _driver(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    if fact.get("status") != "ok":
        return False, fact.get("problem") or fact.get("result_name") or f"NVML: {fact.get('status')}"
    version = fact.get("version") or "version unknown"
    return True, f"{version}, CUDA {fact['cuda_version']}" if fact.get("cuda_version") else version


def _gpus(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    gpus = fact.get("gpus") or ()
    if not gpus:
        return None, "none"
    lost = [f"GPU {gpu.get('index')}: {gpu['problem']}" for gpu in gpus if gpu.get("problem")]
    named = gpu_names({"gpus": {"gpus": [gpu for gpu in gpus if not gpu.get("problem")]}}, detailed=True)
    return not lost, "; ".join([*lost, named] if named else lost)


def _cuda(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    if fact.get("status") != "ok":
        return False, fact.get("problem") or fact.get("result_name") or f"cuInit: {fact.get('status')}"
    count = fact.get("device_count")
    words = "devices not counted" if count is None else f"{count} device" if count == 1 else f"{count} devices"
    return bool(count), f"{words}, CUDA {fact['driver_version']}" if fact.get("driver_version") else words


def _libraries(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    needed = [library for library in fact.get("libraries") or () if library.get("required")]
    if not needed:
        return None, "no TensorFlow that opens CUDA libraries" if fact.get("tensorflow") else "no TensorFlow installed"
    bad = [
        library["soname"]
        for library in needed
        if not library.get("path") or library.get("problem") or library.get("opened") is False
    ]
    words = f"{len(needed) - len(bad)} of the {len(needed)} that TensorFlow opens"
    return not bad, f"{words}; not {', '.join(bad)}" if 0 < len(bad) < len(needed) else words


def _tensorflow(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    listed = fact.get("devices")
    if fact.get("imported") is False:
        error = ": ".join(filter(None, (fact.get("error_type"), fact.get("error"))))
        return False, f"import failed: {error or 'no reason given'}"
    if listed is None:
        stage = f" in the stage {fact['stage']}" if fact.get("stage") else ""
        return False, f"device list not reached: {fact.get('error') or fact.get('ending') or 'no answer'}{stage}"
    return _lists(listed, facts)


def _lists(listed: list[dict[str, Any]], facts: dict[str, Any]) -> Told:
    """A framework's devices: its GPUs against those that the driver has."""
    gpus, count = [device for device in listed if device.get("kind") == "GPU"], gpu_count(facts)
    if count or gpus:
        return len(gpus) >= count, f"lists {len(gpus)} of {max(count, len(gpus))} GPUs"
    return True, f"lists {devices(tuple(device['name'] for device in listed)) or 'no device'}"


def _backend(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    title = f"{TITLES[fact['name']]} {fact.get('version') or ''}".rstrip()
    if fact.get("devices") is None:
        error = ": ".join(filter(None, (fact.get("error_type"), fact.get("error")))) or fact.get("ending")
        return False if fact.get("imported") is False else None, f"{title}: {error or 'no answer'}"
    sound, words = _lists(fact["devices"], facts)
    return sound, f"{title} {words}"


def _keras(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    if not fact.get("imported"):
        error = ": ".join(filter(None, (fact.get("error_type"), fact.get("error"))))
        return False if fact.get("imported") is False else None, f"not imported: {error or 'no answer'}"
    source = fact.get("backend_source")
    return True, f"{fact.get('version')} on {fact.get('backend')}" + (
        f" (from {source})" if source and source != "default" else ""
    )


def _training(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    runs = fact.get("runs") or ()
    if not runs:
        stage = f" in the stage {fact['stage']}" if fact.get("ending") and fact.get("stage") else ""
        return None, f"nothing was trained: {fact.get('ending') or 'no run was possible'}{stage}"
    told: dict[str, dict[str, dict[tuple[str, ...], None]]] = {status: {} for status in _ENDINGS}  # status -> strategy -> devices
    for run in runs:
        told.setdefault(run["status"], {}).setdefault(run["strategy"], {}).setdefault(tuple(run["devices"]))
    words = "; ".join(
        f"{', '.join(f'{strategy} {_all(jobs)}'.rstrip() for strategy, jobs in strategies.items())}"
        f" {_ENDINGS.get(status, status)}"
        for status, strategies in told.items()
        if strategies
    )
    if told["failed"]:
        return False, words
    on_gpu = any(not name.startswith("CPU") for jobs in told["passed"].values() for names in jobs for name in names)
    proved = told["passed"] and not told["timed_out"] and (on_gpu or not gpu_count(facts))
    return True if proved else None, words


def _all(jobs: Iterable[tuple[str, ...]]) -> str:
    """The devices of one job as in every table; of several, each device once."""
    listed = list(jobs)
    return devices(listed[0] if len(listed) == 1 else dict.fromkeys(name for names in listed for name in names))


def _tpu(fact: dict[str, Any], facts: dict[str, Any]) -> Told:
    resolver = facts.get("tpu_resolver") or {}
    generations = fact.get("generations") or ()
    words = ", ".join(f"{generations.count(kind)} × TPU {kind}" for kind in dict.fromkeys(generations)) or "expected"
    if resolver.get("connected"):
        return True, f"{words}; TensorFlow lists {resolver.get('devices')} devices"
    if resolver.get("connected") is False:
        return False, f"{words}; not connected: {resolver.get('error') or 'no reason given'}"
    return None, f"{words}; not connected: {resolver.get('reason') or 'not tried'}"


_PARTS = {
    "system": _Part("system", ("wsl", "container", "limits", "interpreter", "environment", "cluster"), _system),
    "driver": _Part("driver", ("kernel_module", "device_nodes"), _driver),
    "gpus": _Part("gpus", ("pci", "kernel_log"), _gpus),
    "cuda": _Part("cuda", (), _cuda),
    "libraries": _Part("libraries", (), _libraries),
    "tensorflow": _Part("tensorflow", ("packages", "log"), _tensorflow),
    "backend": _Part("backend", (), _backend),
    "keras": _Part("keras", (), _keras),
    "training": _Part("training", (), _training),
    "tpu": _Part("tpu", ("tpu_resolver",), _tpu),
}
