"""Faults of this machine's NVLinks, NVSwitches and NVLink fabric.

Sources: NVIDIA Health Validation, NVLink checks (no link of a GPU may be inactive); nvml.h, nvmlGpuFabricInfo_v3_t; NVIDIA Fabric
Manager user guide (NVSwitches of a baseboard, fatal SXids).
"""

from collections import Counter
from collections.abc import Iterator

import msgspec

from gpucheck.core.combiners.xid_reports import XidReports
from gpucheck.core.compat.nvml import fabric_faults
from gpucheck.core.model import Action, Evidence, Fact, combiner, saw
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.pci import Pci

GPUS_OF_A_BASEBOARD = 8
SWITCHES_OF_A_BASEBOARD = {"0x1af1": 6, "0x22a3": 4}  # by PCI device id: with A100, with H100 and H200


class FabricFault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault."""

    summary: str  # without its full stop
    action: Action
    evidence: tuple[Evidence, ...]
    affects: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()  # addresses of the GPUs to reset


class NvlinkFabric(Fact, frozen=True, kw_only=True):
    """The faults, worst first; empty on a machine without NVLink."""

    faults: tuple[FabricFault, ...]
    undecided: str | None = None  # why links that are down could not be judged


@combiner
def combine(xids: XidReports) -> NvlinkFabric:
    """Judge links and fabric from NVML, and switches from the PCI bus and the kernel's messages."""
    gpus, pci = xids.gpus, xids.pci
    faults = [
        *(_of_gpus(gpus, pci) if gpus is not None else ()),
        *(_missing_switch(pci) if pci is not None else ()),
        *_sxids(xids),
    ]
    linked = [gpu for gpu in (gpus.gpus if gpus is not None else ()) if gpu.nvlinks]
    alone = len(linked) == 1 and not faults and 0 < len(_inactive(linked[0])) < len(linked[0].nvlinks)
    reason = "some NVLinks are inactive, but a single GPU does not show whether they should be connected"
    return NvlinkFabric(faults=tuple(faults), undecided=reason if alone else None)


def _of_gpus(gpus: Gpus, pci: Pci | None) -> Iterator[FabricFault]:
    switched = pci is not None and bool(pci.nvswitches)
    yield from _links(gpus, switched)
    completed = [(place, gpu) for place, gpu in enumerate(gpus.gpus) if gpu.fabric_state == "completed"]
    for place, gpu in completed:
        if gpu.fabric_status:
            words = f"NVLink fabric of {gpu.title} is set up, but with an error (NVML status {gpu.fabric_status})"
            yield _fault(gpus, [(place, gpu)], f"The {words}", Action.RESET_GPU, f"gpus[{place}].fabric_status")
        if words := ", ".join(fabric_faults(gpu.fabric_health_mask or 0)):
            words = f"NVLink fabric of {gpu.title} is not healthy: {words}"
            yield _fault(gpus, [(place, gpu)], f"The {words}", Action.RESET_GPU, f"gpus[{place}].fabric_health_mask")
    for field, name in (("fabric_cluster", "NVLink domain"), ("fabric_clique", "NVLink partition")):
        values = Counter(getattr(gpu, field) for _, gpu in completed if getattr(gpu, field) is not None)
        if len(values) > 1:
            usual = values.most_common(1)[0][0]
            other = [(place, gpu) for place, gpu in completed if getattr(gpu, field) != usual]
            words = f"{other[0][1].title} is in another {name} than the other GPUs of this machine"
            yield _fault(gpus, other, words, Action.DRAIN, *(f"gpus[{place}].{field}" for place, _ in other))


def _links(gpus: Gpus, switched: bool) -> Iterator[FabricFault]:
    linked = [gpu for gpu in gpus.gpus if gpu.nvlinks]
    down = [(place, gpu) for place, gpu in enumerate(gpus.gpus) if _down(gpu, linked, switched)]
    if not down:
        return
    _, worst = max(down, key=lambda item: len(_inactive(item[1])))
    more = f"; {len(down)} GPUs have links that are down" if len(down) > 1 else ""
    count = len(_inactive(worst))
    which = f"{count} of {len(worst.nvlinks)} NVLinks" if worst.nvlinks else "All NVLinks"
    fields = [f"gpus[{place}].nvlinks[{link}]" for place, gpu in down for link in _inactive(gpu)]
    fields += [f"gpus[{place}].nvlinks" for place, gpu in down if not gpu.nvlinks]
    fabric = switched or any(gpu.fabric_state == "completed" for _, gpu in down)
    summary = f"{which} of {worst.title} {'is' if count == 1 else 'are'} down{more}"
    yield _fault(gpus, down, summary, Action.RESET_GPU if fabric else Action.IGNORE, *fields)


def _fault(gpus: Gpus, bad: list[tuple[int, Gpu]], summary: str, action: Action, *fields: str) -> FabricFault:
    return FabricFault(
        summary=summary,
        action=action,
        evidence=saw(gpus, *fields),
        affects=tuple(gpu.label for _, gpu in bad),
        devices=tuple(gpu.pci_address for _, gpu in bad if gpu.pci_address),
    )


def _missing_switch(pci: Pci) -> Iterator[FabricFault]:
    """A baseboard has eight GPUs and a fixed number of switches; a virtual machine with all GPUs has all switches or none."""
    kinds = {switch.device_id for switch in pci.nvswitches}
    wanted = SWITCHES_OF_A_BASEBOARD.get(next(iter(kinds)) or "") if len(kinds) == 1 else None
    boards, rest = divmod(len(pci.gpus), GPUS_OF_A_BASEBOARD)
    if wanted is not None and not rest and len(pci.nvswitches) < wanted * boards:
        yield FabricFault(
            summary=f"Only {len(pci.nvswitches)} of {wanted * boards} NVSwitches are on the PCI bus",
            action=Action.POWER_CYCLE,
            evidence=saw(pci, "nvswitches"),
        )


def _sxids(xids: XidReports) -> Iterator[FabricFault]:
    """A fatal message counts until NVML reports for every GPU that no action is needed."""
    gpus = xids.gpus.gpus if xids.gpus is not None else ()
    if gpus and all(xids.needs_no_action(gpu) for gpu in gpus):
        return
    for event, evidence in xids.switch_faults:
        yield FabricFault(
            summary=f"The NVSwitch at {event.device} has reported a fatal error since its driver was loaded (SXid {event.code})",
            action=Action.REBOOT,
            evidence=evidence,
        )


def _inactive(gpu: Gpu) -> list[int]:
    return [place for place, link in enumerate(gpu.nvlinks) if not link.active]


def _down(gpu: Gpu, linked: list[Gpu], switched: bool) -> bool:
    """With switches every link is used. With bridges some are free, but equally many on each GPU of a model."""
    most = max((_active(other) for other in linked if other.name == gpu.name), default=0)
    if switched or gpu.fabric_state == "completed":
        partly = 0 < len(_inactive(gpu)) < len(gpu.nvlinks)
        return gpu.result is None and gpu.problem is None and (partly or (_active(gpu) == 0 and most > 0))
    return bool(_inactive(gpu)) and 0 < _active(gpu) < most


def _active(gpu: Gpu) -> int:
    return sum(link.active for link in gpu.nvlinks)
