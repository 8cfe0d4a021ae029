"""What of a log is pcie-link-degraded."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules.low_utilization.pcie_link_degraded import _REPAIR

_LOOK = "sudo lspci -vv -d 10de: | grep -E 'controller|LnkCap:|LnkSta:'"


def in_log(log: Log) -> Finding | None:
    """The kernel's, lspci's or nvidia-smi's word for a link below what it can do."""
    told = [event for event in log.events if event.kind == "pcie-limited"]
    if not told:
        return None
    fields = told[0].fields
    where = f"The PCIe link of {fields['device']}" if "device" in fields else "A PCIe link"
    if "capable" in fields:
        state = f"has {fields['available']} of {fields['capable']} Gb/s ({fields['speed']}, {fields['width']} lanes)"
    else:
        state = f"has {fields['width']} lanes" + (
            f" of {fields['width_max']}" if "width_max" in fields else ", fewer than it could"
        )
    return Finding(
        summary=f"{where} {state}.",
        evidence=cite(*told),
        fix=(
            Fix(text="See what card and slot can do (LnkCap) and what they agreed on (LnkSta)", command=_LOOK),
            *_REPAIR,
        ),
    )
