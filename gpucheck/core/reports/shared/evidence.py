"""Format evidence, with the name of its object: "GPU 3 temperature: 91 °C"."""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from gpucheck.core.logs.events import Event
from gpucheck.core.model import Evidence, Experiment, Fact, Report, TrainingRun
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.cuda import CudaDevice
from gpucheck.core.probes.gpus import Gpu
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.pci import PciFunction
from gpucheck.core.reports.shared.words import significant, size, spelled

UNITS = {"seconds": " s", "celsius": " °C", "watts": " W", "mhz": " MHz", "percent": " %"}  # endings of field names
ABSENT = {  # fields in which None has a documented meaning other than "unknown"
    ("libraries", "path"): "not found by the loader",
    ("packages", "tensorflow"): "not installed",
    ("packages", "keras"): "not installed",
    ("packages", "installed"): "not installed",
    ("interpreter", "pip_version"): "no pip",
    ("interpreter", "environment"): "no virtual environment",
}
SHORT_LIST, LONG_LIST = 6, 60
SHORT_TEXT, LONG_TEXT = 160, 2000
LABELS: dict[type, Callable[[Any], str]] = {
    TrainingRun: lambda run: f"{run.strategy} on {devices(run.devices) or 'no device'} ({run.precision})",
    Gpu: lambda gpu: f"GPU {gpu.index}",
    CudaDevice: lambda device: f"CUDA device {device.ordinal}",
    Event: lambda event: f"log line {event.line}",
    PciFunction: lambda function: f"PCI {function.address}",
    Experiment: lambda experiment: f"experiment {experiment.name}".replace("_", " "),
}


def evidence(item: Evidence, report: Report, verbose: bool = False) -> str:
    """Return one piece of evidence as "what: value", with the name of its object: "GPU 3 temperature: 91 °C"."""
    parts = re.findall(r"[^.\[\]]+", item.field)
    if item.fact == "environment" and len(parts) == 2 and parts[0] == "variables":
        return f'{parts[1]}="{_shorten(str(item.value), verbose)}"' if item.value is not None else f"{parts[1]} not set"
    subject, words = _names(report.facts.get(item.fact), item.fact, parts)
    unit = words[-1].rpartition("_")[2] if words else ""
    if unit in UNITS or unit == "bytes":
        words[-1] = words[-1].removesuffix(unit).rstrip("_")
    nothing = ABSENT.get((item.fact, parts[-1])) if item.value is None else None
    name = f"{subject} {spelled(' '.join(words))}".strip()
    text = f"{name}: {nothing or value(item.value, words[-1] if words else '', unit, verbose)}"
    packages = report.fact(Packages)
    if verbose or packages is None or packages.tensorflow is None:
        return text
    return text.replace(f"{packages.tensorflow.folder}/", "…/")


def _names(fact: Fact | None, probe: str, parts: list[str]) -> tuple[str, list[str]]:
    """Return the last named object on the path to a field, and the words of the path after it."""
    subject, words = "", [probe]
    node: Any = fact
    for part in parts:
        if isinstance(node, (list, tuple)) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
            if name := label(node):
                subject, words = name, []
            elif not isinstance(node, str):  # a line of text needs no number
                words.append(part)
        else:
            node = node.get(part) if isinstance(node, dict) else getattr(node, part, None) if isinstance(node, Struct) else None
            words += [] if part == "figures" else [part]
    return subject, words


def label(entry: object) -> str | None:
    """Return the name of a list entry for a reader: "GPU 3", "libcudart.so.12"; None if it has none."""
    if type(entry) in LABELS:
        return LABELS[type(entry)](entry)
    if not isinstance(entry, Struct):
        return None
    names = (getattr(entry, field, None) for field in ("soname", "name", "path", "executable"))
    return next((str(name) for name in names if name), None)


def value(plain: Any, field: str = "", unit: str = "", verbose: bool = False) -> str:
    """Format a value; ``field`` and ``unit`` are the last word of its name, and the name's unit."""
    if plain is None:
        return "unknown"
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, (int, float)):
        return _number(plain, field, unit)
    if isinstance(plain, str):
        return _shorten(plain, verbose) or '""'
    if isinstance(plain, Struct):
        return plain.text if isinstance(plain, Event) else label(plain) or value(asdict(plain), verbose=verbose)
    if isinstance(plain, dict):
        entries = [_entry(key, entry, verbose) for key, entry in plain.items() if entry is not None]
        return _enumerate(entries, verbose)
    if field.endswith("compute_capability"):
        return ".".join(map(str, plain))
    return _enumerate([value(entry, verbose=verbose) for entry in plain], verbose)


def _entry(key: str, entry: Any, verbose: bool) -> str:
    """Return an entry of a table; an environment variable keeps its name."""
    if key.isupper() and isinstance(entry, str):
        return f'{key}="{_shorten(entry, verbose)}"'
    return f"{spelled(key)} {value(entry, key, '', verbose)}"


def _number(number: float, field: str, unit: str) -> str:
    if field == "clock_event_reasons" and isinstance(number, int):
        return hex(number)  # a bit mask
    if unit == "bytes":
        return size(number)
    return f"{number if isinstance(number, int) else significant(number)}{UNITS.get(unit, '')}"


def _shorten(text: str, verbose: bool) -> str:
    limit = LONG_TEXT if verbose else SHORT_TEXT
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _enumerate(items: list[str], verbose: bool) -> str:
    limit = LONG_LIST if verbose else SHORT_LIST
    if len(items) <= limit:
        return ", ".join(items) or "none"
    return f"{', '.join(items[:limit])}, … ({len(items)} in total)"
