"""Format values: bytes as GiB, seconds, counts, training runs with their devices. Does not import rich."""

import re

from gpucheck.core.compat.keras import TITLES
from gpucheck.core.model import TrainingRun
from gpucheck.core.model.naming import devices

# C0 and C1 controls, bidirectional overrides, zero-width characters and lone surrogates: unsafe for a terminal.
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
_SPELLED = "PCI PCIe GPU GPUs CUDA cuDNN CPU ECC MIG SM UUID UVM NVML NVLinks NVSwitches TPU WSL XLA JPEG TF32 TensorFlow Keras"
SPELLING = {word.lower(): word for word in _SPELLED.split()}


def clean(text: str, ascii: bool = False) -> str:
    """Return the text on one line, without characters that control a terminal; ``ascii``: in ASCII."""
    text = re.sub(r"(?<!\s)\s*[\n\r\t]\s*", " ", text)  # from the start of blanks only: otherwise quadratic in their length
    text = UNSAFE.sub("\ufffd", text)
    return text.translate(ASCII).encode("ascii", "replace").decode("ascii") if ascii else text


def significant(value: float) -> str:
    """Format three significant digits, with an exponent only below 0.001: 0.52, 17.5, 139.8 -> "140", 58600 -> "58,600"."""
    if not abs(value) >= 0.001:  # including zero and NaN
        return "0" if value == 0 else f"{value:.1g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def size(count: int | float) -> str:
    """Format bytes in the largest unit with a value of at least one: 150754820096 -> "140 GiB"."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{significant(value)} {unit}"
        value /= 1024
    return f"{significant(value)} TiB"


def duration(seconds: float) -> str:
    """Format seconds with a readable precision: "0.12 s", "6.8 s", "134 s"."""
    if seconds >= 100:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"


def plural(count: int, noun: str) -> str:
    """Return "1 error" or "2 errors"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def strategy(run: TrainingRun) -> str:
    """Return the strategy's name, with the exchange of gradients if it was chosen: "mirrored, hierarchical copy"."""
    return run.strategy if run.cross_device is None else f"{run.strategy}, {run.cross_device.replace('_', ' ')}"


def training_run(run: TrainingRun) -> str:
    """Return a training run's name: "mirrored on GPU:0-7 (float32)", "one_device on GPU:0 (float32, JAX)"."""
    framework = "" if run.backend == "tensorflow" else f", {TITLES[run.backend]}"
    return f"{strategy(run)} on {devices(run.devices) or 'no device'} ({run.precision}{framework})"


def spelled(words: str) -> str:
    """Return the words of a field's name in their usual spelling: "gpus gpus pcie_width" -> "GPUs PCIe width"."""
    right = [SPELLING.get(word, word) for word in words.replace("_", " ").split()]
    return " ".join(word for place, word in enumerate(right) if word not in right[max(place - 1, 0) : place])
