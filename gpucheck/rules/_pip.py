"""What a pasted log says about installing: a package that pip does not find for this Python, or for this machine."""

import re
from typing import NamedTuple

from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import told

_OURS = r"^(?:tensorflow|tf-?nightly|tf-keras|keras|jax|torch|pytorch|nvidia-|tensorrt|intel-tensorflow|cupy)"
_CUDA_ONLY = r"^(?:nvidia-|tensorrt|cupy-cuda|tensorflow-text|jax-cuda|triton)"
_APPLE = r"^tensorflow-(?:macos|metal)$"
_GPU_PACKAGE = r"^tensorflow-gpu$"
_LAST_GPU_PACKAGE = "2.11"
_ORIGIN = ("windows", "macos", "architecture", "musl")


class Refused(NamedTuple):
    """A package that could not be installed."""

    code: str  # of the rule that names it
    events: list[Event]
    package: str
    asked: str  # "==2.10.0"; empty: any version
    offered: str  # "2.16.1 to 2.20.0", "none"; empty: not said
    python: str | None
    needed: str | None  # the Python versions that it is for


def refused(log: Log) -> Refused | None:
    """The first package of ours that was refused, and why; None where the index itself could not be reached."""
    found = told(log, "pip-no-matching-distribution", "pip-python-mismatch", "pip-wheel-unsupported")
    ours = [event for event in found if re.match(_OURS, _package(event)) or event.kind == "pip-wheel-unsupported"]
    if not ours or told(log, "pip-unreachable"):
        return None
    first = ours[0]
    package = _package(first)
    same = [event for event in ours if _package(event) == package]
    fields = {key: value for event in reversed(same) for key, value in event.fields.items()}
    asked = fields.get("version", "")
    origin = {event.kind for event in log.events if event.kind in _ORIGIN}
    code = _cause(first, package, asked, fields, origin)
    around = [event for event in log.events if event.kind in _ORIGIN and code != "python-unsupported"]
    return Refused(
        code,
        [*same[:2], *around[:1]],
        package or "such wheel",
        asked,
        fields.get("available", ""),
        fields.get("python"),
        fields.get("needed"),
    )


def python_for(asked: str) -> str | None:
    """The newest Python that the TensorFlow asked for has packages for; None if that is not known."""
    match = re.search(r"\d+\.\d+", asked)
    known = releases.release(match[0]) if match else None
    return known.python_max if known else None


def _nameless(event: Event) -> bool:
    """A wheel that is refused for this platform, without its name."""
    return event.kind == "pip-wheel-unsupported" and not event.fields


def _package(event: Event) -> str:
    name = event.fields.get("package") or event.fields.get("file", "").rpartition("/")[2].partition("-")[0]
    return name.lower().replace("_", "-")


def _cause(event: Event, package: str, asked: str, fields: dict[str, str], origin: set[str]) -> str:
    if re.match(_GPU_PACKAGE, package) and _given_up(asked, fields.get("available", "")):
        return "tensorflow-gpu-package-removed"
    if _nameless(event):
        return "platform-unsupported"
    if event.kind == "pip-no-matching-distribution":
        if re.match(_APPLE, package) and "macos" not in origin:
            return "platform-unsupported"
        if re.match(_CUDA_ONLY, package) and "windows" in origin:
            return "windows-native-unsupported"
        if re.match(_CUDA_ONLY, package) and "macos" in origin:
            return "macos-no-cuda"
        if fields.get("tag") == "platform" or origin & {"architecture", "musl"}:
            return "platform-unsupported"
    return "python-unsupported"


def _given_up(asked: str, available: str) -> bool:
    """tensorflow-gpu ended with 2.11; where older ones are asked for or offered, this Python is too new for them."""
    if re.search(r"\d", asked):
        return versions.at_least(re.sub(r"^[^\d]+", "", asked), f"{_LAST_GPU_PACKAGE}.99")
    offered = available.partition(" to ")[0]
    return not re.search(r"\d", offered) or versions.at_least(offered, f"{_LAST_GPU_PACKAGE}.99")
