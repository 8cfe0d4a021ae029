"""Memory that ran out: on the GPU, in the host, in /dev/shm, and the limits of the operating system."""

import re

from gpucheck.core.logs.reading.patterns import named

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def _allocator(name: str) -> str:
    """'gpu_host_bfc' hands out the host's memory, pinned for copies."""
    if re.match(r"(?i)(?:\w+_)?(?:gpu|cuda)_host", name):
        return "cpu"
    if re.match(r"(?i)gpu", name):
        return "gpu"
    return "cuda" if re.match(r"(?i)cuda|device", name) else "cpu"


def _exhausted(match: "re.Match[str]") -> dict[str, str] | None:
    """device, bytes and allocator, as far as the line gives them."""
    caught = named(match) or {}
    fields: dict[str, str] = {}
    if size := re.fullmatch(r"([\d.]+) ?([KMGT]?)i?B?", caught.get("size", "")):
        fields["bytes"] = str(int(float(size[1]) * _UNITS[size[2]]))
    if "bytes" in caught:
        fields["bytes"] = caught["bytes"].replace(",", "")
    if "allocator" in caught:
        fields["allocator"] = _allocator(caught["allocator"])
    device = caught.get("device") or next(iter(re.findall(r"(?i)\bgpu_\d+(?=_bfc)", caught.get("allocator", ""))), "")
    if device:
        fields["device"] = device.upper().replace("_", ":").replace("GPU ", "GPU:")
        fields.setdefault("allocator", "cpu" if fields["device"].startswith("CPU") else "gpu")
    return fields


def _bfc(match: "re.Match[str]") -> dict[str, str] | None:
    fields = _exhausted(match)
    return None if match["harmless"] else fields


def _retried(match: "re.Match[str]") -> dict[str, str] | None:
    return _exhausted(match) if match["harmless"] else None


def _holders(match: "re.Match[str]") -> dict[str, str] | None:
    """What others hold of the GPU. In a container this process is not told apart from them: it may be the largest."""
    sizes = [_bytes(size) for size in re.findall(r"Process \d+ has ([\d.]+ [KMGT]iB) memory in use", match[0])]
    others = sum(sizes) - (0 if "this process has" in match[0] else max(sizes))
    return {"others": str(others), "total": str(_bytes(match["total"]))} if others else None


def _bytes(size: str) -> int:
    number, unit = re.findall(r"[\d.]+|[KMGT](?=i?B)", size)
    return int(float(number) * _UNITS[unit])
