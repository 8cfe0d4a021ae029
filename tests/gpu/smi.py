"""Compare each field of each GPU with nvidia-smi's CSV and XML."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any

from gpu.measures import Row
from gpu.place import Place

# nvidia-smi's name of a field, the name in our fact, and how its text is converted.
FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "name": ("name", str),
    "uuid": ("uuid", str),
    "pci.bus_id": ("pci_address", lambda text: text.lower()[4:]),
    "compute_cap": ("compute_capability", lambda text: [int(part) for part in text.split(".")]),
    "memory.total": ("memory_total_bytes", lambda text: int(text) << 20),
    "temperature.gpu": ("temperature_celsius", int),
    "power.draw": ("power_watts", float),
    "power.limit": ("power_limit_watts", float),
    "clocks.sm": ("sm_clock_mhz", int),
    "clocks.max.sm": ("sm_clock_max_mhz", int),
    "pcie.link.gen.current": ("pcie_generation", int),
    "pcie.link.width.current": ("pcie_width", int),
    "persistence_mode": ("persistence_mode", lambda text: text == "Enabled"),
    "compute_mode": ("compute_mode", lambda text: text.lower().replace("_", "-")),
    "ecc.mode.current": ("ecc_enabled", lambda text: text == "Enabled"),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected_volatile", int),
    "mig.mode.current": ("mig_enabled", lambda text: text == "Enabled"),
}
# The paths of some of them in `nvidia-smi -q -x`.
XML = {
    "product_name": "name",
    "uuid": "uuid",
    "pci/pci_bus_id": "pci.bus_id",
    "fb_memory_usage/total": "memory.total",
    "temperature/gpu_temp": "temperature.gpu",
    "clocks/sm_clock": "clocks.sm",
    "max_clocks/sm_clock": "clocks.max.sm",
    "pci/pci_gpu_link_info/link_widths/current_link_width": "pcie.link.width.current",
    "persistence_mode": "persistence_mode",
    "compute_mode": "compute_mode",
    "ecc_mode/current_ecc": "ecc.mode.current",
    "mig_mode/current_mig": "mig.mode.current",
}
UNIT = re.compile(r"(?<=\d)( (MiB|C|MHz)|x)$")
# Tolerated differences between readings at different times, including rounding to MiB.
MAY_DIFFER = {
    "memory_total_bytes": 1 << 20,
    "temperature_celsius": 5,
    "power_watts": 100.0,
    "sm_clock_mhz": 2000,
    "pcie_generation": 5,  # it falls when the GPU idles
    "persistence_mode": 0,
}


def fields(place: Place) -> Iterator[Row]:
    """Compare each field of each GPU with nvidia-smi's output."""
    command = ["nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        smi = place.run(command, place.env(), 60)
    except FileNotFoundError:
        yield Row("nvidia-smi", "the same values", "skipped: there is no nvidia-smi", None)
        return
    ours = place.gpucheck(("node",)).report.get("facts", {}).get("gpus", {}).get("gpus", [])
    lines = smi.out.strip().splitlines()
    different = [f"{len(lines)} GPUs instead of {len(ours)}"] if len(lines) != len(ours) else []
    for line, gpu in zip(lines, ours, strict=False):
        for text, (field, read) in zip(line.split(", "), FIELDS.values(), strict=True):
            if not same(field, gpu.get(field), text, read):
                different.append(f"{field} of GPU {gpu.get('index')} is {gpu.get(field)!r}, nvidia-smi says {text!r}")
    found = "; ".join(different) or f"{len(FIELDS)} fields of {len(lines)} GPUs are the same"
    yield Row("nvidia-smi", "the same values", found, bool(lines) and not different, {"fields": len(FIELDS) * len(lines)}, smi)


def fields_of_xml(place: Place) -> Iterator[Row]:
    """Compare the driver, and each GPU in the order of addresses, with `nvidia-smi -q -x`."""
    try:
        smi = place.run(["nvidia-smi", "-q", "-x"], place.env(), 60)
    except FileNotFoundError:
        yield Row("nvidia-smi-xml", "the same values", "skipped: there is no nvidia-smi", None)
        return
    log = ElementTree.fromstring(smi.out)
    facts = place.gpucheck(("node",)).report.get("facts", {})
    driver, ours = facts.get("driver", {}), facts.get("gpus", {}).get("gpus", [])
    different = [
        f"{field} is {driver.get(field)!r}, nvidia-smi says {log.findtext(path)!r}"
        for path, field in (("driver_version", "version"), ("cuda_version", "cuda_version"))
        if driver.get(field) != log.findtext(path)
    ]
    theirs = log.findall("gpu")
    different += [f"{len(theirs)} GPUs instead of {len(ours)}"] if len(theirs) != len(ours) else []
    for element, gpu in zip(theirs, ours, strict=False):
        for path, name in XML.items():
            field, read = FIELDS[name]
            text = UNIT.sub("", element.findtext(path, "[absent]").replace("N/A", "[N/A]"))
            if not same(field, gpu.get(field), text, read):
                different.append(f"{field} of GPU {gpu.get('index')} is {gpu.get(field)!r}, nvidia-smi says {text!r}")
    found = "; ".join(different) or f"{len(XML)} fields of {len(theirs)} GPUs and the driver's versions are the same"
    yield Row("nvidia-smi-xml", "the same values", found, bool(theirs) and not different, {}, smi)


def same(field: str, ours: Any, text: str, read: Callable[[str], Any]) -> bool:
    """Whether our value matches nvidia-smi's; "[N/A]" means unknown."""
    if text.startswith("["):
        return ours in (None, False)
    theirs = read(text)
    if isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
        return ours is not None and abs(ours - theirs) <= MAY_DIFFER.get(field, 0.01)
    return bool(ours == theirs)
