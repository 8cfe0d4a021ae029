"""NVLinks of a GPU are down, an NVSwitch is missing, or the fabric that connects the GPUs is not healthy.

Symptom:
    - nvidia-smi nvlink --status shows <inactive> for some links of one GPU.
    NVRM: Xid (PCI:0000:3b:00): 74
    nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30
    CUDA_ERROR_NVLINK_UNCORRECTABLE
Cause:
    A link failed in the GPU, in the bridge or in an NVSwitch, or did not come up when the machine started. Transfers then use
    the remaining links, or PCIe, and every step of a multi-GPU job waits for the slowest GPU.
Verify:
    nvidia-smi nvlink --status: no link is inactive.
Unless:
    The GPUs were reset after the message in the kernel log: newer drivers report that no action is needed, and
    gpucheck reports nothing. By design, a bridge connects only some links: all GPUs of the machine then have the same number of
    active links, and gpucheck reports nothing.
Example:
    machine: hgx-h200
    gpus.gpus[3].nvlinks[5].active = false
    gpus.gpus[3].nvlinks[6].active = false
    -> 2 of 18 NVLinks of GPU 3 (NVIDIA H200) are down.
References:
    https://docs.nvidia.com/health-validation/reference/checks/nvlink
    https://docs.nvidia.com/deploy/xid-errors/index.html
    https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html
"""

from collections import Counter
from collections.abc import Iterator

import msgspec

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.xid_reports import XidReport, XidReports, cited, codes, finding
from gpucheck.core.compat.nvml import fabric_faults
from gpucheck.core.model import Action, Evidence, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.machine import act, required_action

GPUS_OF_A_BASEBOARD = 8  # NVIDIA Fabric Manager user guide, also for the switches
SWITCHES_OF_A_BASEBOARD = {"0x1af1": 6, "0x22a3": 4}  # by PCI device id: with A100, with H100 and H200
_LOOK = Fix.look("Check the links", "nvidia-smi nvlink --status")
_HARDWARE = Fix(text="If links stay down after a restart, have the board, the bridge or the NVSwitch repaired")


class _Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault of links, switches or the fabric."""

    summary: str  # without its full stop
    action: Action
    evidence: tuple[Evidence, ...]
    affects: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()  # addresses of the GPUs to reset


@rule(
    scope=Scope.HARDWARE,
    explains=("nccl-failed", "peer-access-unavailable", "scaling-inefficient"),
    first_check="nvidia-smi nvlink --status",
)
def check(xids: XidReports, gpus: Gpus | None, pci: Pci | None, log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report links that should be up according to the fabric or other GPUs, a fault of the fabric, or a message about one.

    NVML reports on links and the fabric, the PCI bus and the kernel's messages on switches; the worst fault comes first.
    """
    reports = xids.of("nvlink")
    if faults := [*_of_gpus(gpus, pci), *_missing_switch(pci), *_sxids(xids, gpus)]:
        first, *others = faults
        action = Action.strongest([*(fault.action for fault in faults), *([xids.action(reports)] if reports else [])])
        more = f"; {len(faults)} such faults in total" if others else ""
        named = dict.fromkeys(address for fault in faults for address in fault.devices)
        return Finding(
            summary=f"{first.summary}{more}.",
            evidence=(*(item for fault in faults for item in fault.evidence), *cited(reports)),
            fix=repairs(context, action=action.value, devices=",".join(named), xids=codes(reports)),
            action=action,
            affects=tuple(dict.fromkeys(name for fault in faults for name in fault.affects)),
        )
    if reports:
        return _reported(reports, xids, context)
    summary = "An NVLink failed: {text}."
    failure = log_causes.failure("nvlink-down", summary, repairs(context), severity=Severity.ERROR)
    if failure is not None:
        return failure
    linked = [gpu for gpu in (gpus.gpus if gpus is not None else ()) if gpu.nvlinks]
    if len(linked) == 1 and 0 < len(_inactive(linked[0])) < len(linked[0].nvlinks):
        return Skip("some NVLinks are inactive, but a single GPU does not show whether they should be connected")
    return None if gpus is not None else log_causes.outcomes.skip


def _of_gpus(gpus: Gpus | None, pci: Pci | None) -> Iterator[_Fault]:
    """Yield the faults of links and of the fabric.

    NVIDIA Health Validation allows no inactive link; the fabric's fields are those of nvmlGpuFabricInfo_v3_t.
    """
    if gpus is None:
        return
    switched = pci is not None and bool(pci.nvswitches)
    yield from _links(gpus, switched)
    completed = [(place, gpu) for place, gpu in enumerate(gpus.gpus) if gpu.fabric_state == "completed"]
    for place, gpu in completed:
        if gpu.fabric_status:
            words = f"The NVLink fabric of {gpu.title} is set up, but with an error (NVML status {gpu.fabric_status})"
            yield _fault(gpus, [(place, gpu)], words, Action.RESET_GPU, f"gpus[{place}].fabric_status")
        if words := ", ".join(fabric_faults(gpu.fabric_health_mask or 0)):
            words = f"The NVLink fabric of {gpu.title} is not healthy: {words}"
            yield _fault(gpus, [(place, gpu)], words, Action.RESET_GPU, f"gpus[{place}].fabric_health_mask")
    for field, name in (("fabric_cluster", "NVLink domain"), ("fabric_clique", "NVLink partition")):
        values = Counter(getattr(gpu, field) for _, gpu in completed if getattr(gpu, field) is not None)
        if len(values) > 1:
            usual = values.most_common(1)[0][0]
            other = [(place, gpu) for place, gpu in completed if getattr(gpu, field) != usual]
            words = f"{other[0][1].title} is in another {name} than the other GPUs of this machine"
            yield _fault(gpus, other, words, Action.DRAIN, *(f"gpus[{place}].{field}" for place, _ in other))


def _links(gpus: Gpus, switched: bool) -> Iterator[_Fault]:
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


def _fault(gpus: Gpus, bad: list[tuple[int, Gpu]], summary: str, action: Action, *fields: str) -> _Fault:
    return _Fault(
        summary=summary,
        action=action,
        evidence=saw(gpus, *fields),
        affects=tuple(gpu.label for _, gpu in bad),
        devices=tuple(gpu.pci_address for _, gpu in bad if gpu.pci_address),
    )


def _missing_switch(pci: Pci | None) -> Iterator[_Fault]:
    """Yield the fault of missing NVSwitches.

    A baseboard has eight GPUs and a fixed number of switches. A virtual machine with all GPUs has all switches or none.
    """
    if pci is None:
        return
    kinds = {switch.device_id for switch in pci.nvswitches}
    expected = SWITCHES_OF_A_BASEBOARD.get(next(iter(kinds)) or "") if len(kinds) == 1 else None
    boards, rest = divmod(len(pci.gpus), GPUS_OF_A_BASEBOARD)
    if expected is not None and not rest and len(pci.nvswitches) < expected * boards:
        yield _Fault(
            summary=f"Only {len(pci.nvswitches)} of {expected * boards} NVSwitches are on the PCI bus",
            action=Action.POWER_CYCLE,
            evidence=saw(pci, "nvswitches"),
        )


def _sxids(xids: XidReports, gpus: Gpus | None) -> Iterator[_Fault]:
    """Yield the fatal messages, unless NVML reports for every GPU that no action is needed."""
    requests = [xids.requested_action(gpu) for gpu in gpus.gpus] if gpus is not None else []
    if requests and all(request is not None and request.action is Action.IGNORE for request in requests):
        return
    for event, evidence in xids.switch_faults:
        yield _Fault(
            summary=f"The NVSwitch at {event.device} has reported a fatal error since its driver was loaded (SXid {event.code})",
            action=Action.REBOOT,
            evidence=evidence,
        )


def _inactive(gpu: Gpu) -> list[int]:
    return [place for place, link in enumerate(gpu.nvlinks) if not link.active]


def _down(gpu: Gpu, linked: list[Gpu], switched: bool) -> bool:
    """Whether links of a GPU are down.

    With switches, every link is used. With bridges, some are free: the same number on each GPU of a model.
    """
    most = max((_active(other) for other in linked if other.name == gpu.name), default=0)
    if switched or gpu.fabric_state == "completed":
        partly = 0 < len(_inactive(gpu)) < len(gpu.nvlinks)
        return gpu.result is None and gpu.problem is None and (partly or (_active(gpu) == 0 and most > 0))
    return bool(_inactive(gpu)) and 0 < _active(gpu) < most


def _active(gpu: Gpu) -> int:
    return sum(link.active for link in gpu.nvlinks)


def _reported(reports: list[XidReport], xids: XidReports, context: Context) -> Finding:
    up = all(
        report.gpu is not None and report.gpu.nvlinks and all(link.active for link in report.gpu.nvlinks) for report in reports
    )
    since = f"has had NVLink errors since its driver was loaded: {reports[0].xid.title}{'; its links are up now' if up else ''}"
    return finding(f"{reports[0].label} {since}.", reports, xids.action(reports), repairs, context)


def repairs(context: Context, *, action: str = "", devices: str = "", xids: str = "") -> Fixes:
    """Repair the links.

    Args:
        context: what is known about the machine.
        action: the required action; empty: the one that the messages request.
        devices: addresses or UUIDs of the GPUs, comma-separated.
        xids: codes of the kernel's messages, comma-separated.
    """
    required = required_action(action, xids, Action.RESET_GPU)
    yield from act(context, required, devices, xids)
    yield _HARDWARE
    yield _LOOK
