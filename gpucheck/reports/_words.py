"""Values in words: bytes as GiB, runs by their devices, evidence by the name of the thing it was seen on. Imports no rich."""

import re
from typing import Any

from gpucheck.compat.keras import TITLES
from gpucheck.model import Evidence, TrainingRun
from gpucheck.model.naming import devices

# C0 and C1 controls, bidirectional overrides, zero-width characters and lone surrogates: what a terminal would obey or choke on.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]")
ASCII = str.maketrans(
    {
        "·": "-",
        "×": "x",
        "–": "-",
        "—": "-",
        "…": "...",
        "→": "->",
        "✗": "X",
        "°": "",
        "µ": "u",
        "≥": ">=",
        "≤": "<=",
        "÷": "/",
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
    }
)
UNITS = {"seconds": " s", "celsius": " °C", "watts": " W", "mhz": " MHz", "percent": " %"}  # endings of field names
SPELLING = {
    "pci": "PCI",
    "pcie": "PCIe",
    "gpu": "GPU",
    "gpus": "GPUs",
    "cuda": "CUDA",
    "cudnn": "cuDNN",
    "cpu": "CPU",
    "ecc": "ECC",
    "mig": "MIG",
    "sm": "SM",
    "uuid": "UUID",
    "uvm": "UVM",
    "nvml": "NVML",
    "nvlinks": "NVLinks",
    "nvswitches": "NVSwitches",
    "tpu": "TPU",
    "wsl": "WSL",
    "xla": "XLA",
    "jpeg": "JPEG",
    "tf32": "TF32",
    "tensorflow": "TensorFlow",
    "keras": "Keras",
}
ABSENT = {  # fields whose None is documented to mean more than "unknown"
    ("libraries", "path"): "not found by the loader",
    ("packages", "tensorflow"): "not installed",
    ("packages", "keras"): "not installed",
    ("packages", "installed"): "not installed",
    ("interpreter", "pip_version"): "no pip",
    ("interpreter", "environment"): "no virtual environment",
}
SHORT_LIST, LONG_LIST = 6, 60
SHORT_TEXT, LONG_TEXT = 160, 2000


def clean(text: str, ascii: bool = False) -> str:
    """The text on one line, without anything that a terminal would obey; in ASCII if asked."""
    text = re.sub(r"(?<!\s)\s*[\n\r\t]\s*", " ", text)  # from a blank's beginning only: else quadratic in its length
    text = UNSAFE.sub("\ufffd", text)
    return text.translate(ASCII).encode("ascii", "replace").decode("ascii") if ascii else text


def significant(value: float) -> str:
    """Three significant digits, an exponent only below a thousandth: 0.52, 17.5, 139.8 -> "140", 58600 -> "58,600"."""
    if not abs(value) >= 0.001:  # zero and NaN too
        return "0" if value == 0 else f"{value:.1g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def size(count: int | float) -> str:
    """Bytes in the largest unit that leaves at least one: 150754820096 -> "140 GiB"."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{significant(value)} {unit}"
        value /= 1024
    return f"{significant(value)} TiB"


def duration(seconds: float) -> str:
    """Seconds as a reader wants them: "0.12 s", "6.8 s", "134 s"."""
    if seconds >= 100:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"


def plural(count: int, noun: str) -> str:
    """ "1 error", "2 errors"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def strategy(run: TrainingRun) -> str:
    """The strategy's name, with how gradients were exchanged where that was chosen: "mirrored, hierarchical copy"."""
    return run.strategy if run.cross_device is None else f"{run.strategy}, {run.cross_device.replace('_', ' ')}"


def training_run(run: TrainingRun) -> str:
    """One training run by name: "mirrored on GPU:0-7 (float32)", "one_device on GPU:0 (float32, JAX)"."""
    framework = "" if run.backend == "tensorflow" else f", {TITLES[run.backend]}"
    return f"{strategy(run)} on {devices(run.devices) or 'no device'} ({run.precision}{framework})"


def evidence(item: Evidence, facts: dict[str, Any], verbose: bool = False) -> str:
    """One piece of evidence as "what: value", named by the thing it was seen on: "GPU 3 temperature: 91 °C"."""
    parts = re.findall(r"[^.\[\]]+", item.field)
    if item.fact == "environment" and len(parts) == 2 and parts[0] == "variables":
        return f'{parts[1]}="{_shorten(str(item.value), verbose)}"' if item.value is not None else f"{parts[1]} not set"
    thing, words = "", [item.fact]
    node: Any = facts.get(item.fact)
    for part in parts:
        if isinstance(node, (list, tuple)) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
            identity = _identity(node, item.fact)
            # A line of text among others needs no number.
            thing, words = (identity, []) if identity else (thing, words if isinstance(node, str) else [*words, part])
        else:
            node = node.get(part) if isinstance(node, dict) else None
            words += [] if part == "figures" else [part]
    unit = words[-1].rpartition("_")[2] if parts and words else ""
    if unit in UNITS or unit == "bytes":
        words[-1] = words[-1].removesuffix(unit).rstrip("_")
    nothing = ABSENT.get((item.fact, parts[-1])) if item.value is None else None
    name = f"{thing} {_spell(words)}".strip()
    text = f"{name}: {nothing or value(item.value, words[-1] if words else '', unit, verbose)}"
    folder = ((facts.get("packages") or {}).get("tensorflow") or {}).get("folder")
    return text if verbose or not folder else text.replace(f"{folder}/", "…/")


def value(plain: Any, field: str = "", unit: str = "", verbose: bool = False) -> str:
    """A plain value in words; ``field`` and ``unit`` are the last word of its name and that name's unit."""
    if plain is None:
        return "unknown"
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, (int, float)):
        if field == "clock_event_reasons" and isinstance(plain, int):
            return hex(plain)  # a bit mask
        return size(plain) if unit == "bytes" else f"{_number(plain)}{UNITS.get(unit, '')}"
    if isinstance(plain, str):
        return _shorten(plain, verbose) or '""'
    if isinstance(plain, dict):
        known = [f"{_spell([key])} {value(entry, key, '', verbose)}" for key, entry in plain.items() if entry is not None]
        return _identity(plain, "") or _enumerate(known, verbose)
    if field.endswith("compute_capability"):
        return ".".join(map(str, plain))
    return _enumerate([value(entry, verbose=verbose) for entry in plain], verbose)


def _number(number: float) -> str:
    return str(number) if isinstance(number, int) else significant(number)


def _shorten(text: str, verbose: bool) -> str:
    limit = LONG_TEXT if verbose else SHORT_TEXT
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _enumerate(items: list[str], verbose: bool) -> str:
    limit = LONG_LIST if verbose else SHORT_LIST
    if len(items) <= limit:
        return ", ".join(items) or "none"
    return f"{', '.join(items[:limit])}, … ({len(items)} in all)"


def _identity(entry: Any, fact: str) -> str | None:
    """What a person would call one entry of a list of facts."""
    if not isinstance(entry, dict):
        return None
    if "strategy" in entry and "devices" in entry:
        return f"{entry['strategy']} on {devices(tuple(entry['devices'])) or 'no device'} ({entry.get('precision')})"
    if "memory_total_bytes" in entry and "index" in entry:
        return f"GPU {entry['index']}"
    if "ordinal" in entry:
        return f"CUDA device {entry['ordinal']}"
    if "line" in entry and "text" in entry:
        return f"log line {entry['line']}" if fact else entry["text"]
    if "address" in entry:
        return f"PCI {entry['address']}"
    if "figures" in entry:
        return f"experiment {entry.get('name')}".replace("_", " ")
    name = entry.get("soname") or entry.get("name") or entry.get("path") or entry.get("executable")
    return str(name) if name else None


def _spell(words: list[str]) -> str:
    spelled: list[str] = []
    for word in " ".join(words).replace("_", " ").split(" "):
        right = SPELLING.get(word, word)
        if right and spelled[-1:] != [right]:
            spelled.append(right)
    return " ".join(spelled)
