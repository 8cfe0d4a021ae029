"""TensorFlow's own account: devices found, created, ignored or hidden, and the diagnosis it prints after a failed cuInit."""

import re

from gpucheck.core.logs.reading.patterns import named


def _counted(match: "re.Match[str]") -> dict[str, str] | None:
    return {"count": str(len(re.findall(r"physical_device:(?:XLA_)?GPU:\d+", match[0])))}


def _added(match: "re.Match[str]") -> dict[str, str] | None:
    return {"count": str(len(re.findall(r"\d+", match["devices"] or "")))}


def _indexed(match: "re.Match[str]") -> dict[str, str] | None:
    return {**(named(match) or {}), "device": f"GPU:{match['index']}"}


def _strategy(match: "re.Match[str]") -> dict[str, str] | None:
    devices = re.findall(r"(?:device:)?\b(GPU|CPU|TPU):(\d+)", match["devices"])
    kinds = sorted({kind for kind, _ in devices})
    named_devices = {"devices": ",".join(kinds), "count": str(len(devices))} if devices else {}
    return {**named_devices, "strategy": match["strategy"]}


def _requested(match: "re.Match[str]") -> dict[str, str] | None:
    """asked and count; without any GPU the trouble is another one."""
    asked = match["count"] or str(len(re.findall(r"\d+", match["wanted"])))
    available = len(re.findall(r"(?<!xla_)gpu:\d+|(?<![\w:])\d+", match["found"]))
    return {"asked": asked, "count": str(available)} if available else None


def _invisible(match: "re.Match[str]") -> dict[str, str] | None:
    """devices, the lowest first. Of a cluster's jobs TensorFlow says so of devices that only go by another name."""
    numbers = re.findall(r"(?:^|,)(?:/job:localhost)?(?:/(?:replica|task):\d+)*/device:GPU:(\d+)", match["devices"])
    return {"devices": ",".join(f"GPU:{number}" for number in sorted(map(int, numbers)))} if numbers else None


def _container(match: "re.Match[str]") -> dict[str, str] | None:
    """Docker names a container's host by twelve hexadecimal digits."""
    host = match["host"]
    return {"host": host} if re.search(r"\d", host) and re.search(r"[a-f]", host) else None
