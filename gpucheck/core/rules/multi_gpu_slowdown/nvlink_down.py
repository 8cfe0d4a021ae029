"""NVLinks of a GPU are down, an NVSwitch is missing, or the fabric that connects the GPUs is not healthy.

Symptom:
    - nvidia-smi nvlink --status shows <inactive> for some links of one GPU.
    NVRM: Xid (PCI:0000:3b:00): 74
    nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30
    CUDA_ERROR_NVLINK_UNCORRECTABLE
Cause:
    A link failed in the GPU, in the bridge or in an NVSwitch, or did not come up when the machine started. Transfers then take
    the remaining links, or PCIe, and every step of a multi-GPU job waits for the slowest GPU.
Verify:
    nvidia-smi nvlink --status: no link is inactive.
Unless:
    The GPUs were reset after the message in the kernel's log: newer drivers say that, and gpucheck reports nothing.
    A bridge connects only some links by design: then all GPUs of the machine have the same number, and nothing is reported.
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

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.nvlink_fabric import NvlinkFabric
from gpucheck.core.combiners.xid_reports import XidReport, XidReports, cited, codes, finding
from gpucheck.core.model import Action, Finding, Fix, Fixes, Scope, Severity, Skip, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.machine import act, required_action

UNCORRECTABLE = r"CUDA_ERROR_NVLINK_UNCORRECTABLE|NVLink error"
_LOOK = Fix.look("Check the links", "nvidia-smi nvlink --status")
_HARDWARE = Fix(text="Have links that stay down after a restart repaired: board, bridge or NVSwitch")


@rule(
    scope=Scope.HARDWARE,
    explains=("nccl-failed", "peer-access-unavailable", "scaling-inefficient"),
    first_check="nvidia-smi nvlink --status",
)
def check(xids: XidReports, fabric: NvlinkFabric, log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report links that should be up according to the fabric or other GPUs, a fault of the fabric, or a message about one."""
    reports = [report for report in xids.of("nvlink") if "Nonfatal" not in report.text]
    if fabric.faults:
        first, *others = fabric.faults
        action = Action.strongest([*(fault.action for fault in fabric.faults), *([xids.action(reports)] if reports else [])])
        more = f"; faults like this in all: {len(fabric.faults)}" if others else ""
        named = dict.fromkeys(address for fault in fabric.faults for address in fault.devices)
        return Finding(
            summary=f"{first.summary}{more}.",
            evidence=(*(item for fault in fabric.faults for item in fault.evidence), *cited(reports)),
            fix=repairs(context, action=action.value, devices=",".join(named), xids=codes(reports)),
            action=action,
            affects=tuple(dict.fromkeys(name for fault in fabric.faults for name in fault.affects)),
        )
    if reports:
        return _reported(reports, xids, context)
    summary = "An NVLink failed: {text}."
    failure = log_causes.failure("nvlink-down", UNCORRECTABLE, summary, repairs(context), severity=Severity.ERROR)
    if failure is not None:
        return failure
    if fabric.undecided:
        return Skip(fabric.undecided)
    return None if xids.gpus is not None else log_causes.outcomes.skip


def _reported(reports: list[XidReport], xids: XidReports, context: Context) -> Finding:
    up = all(
        report.gpu is not None and report.gpu.nvlinks and all(link.active for link in report.gpu.nvlinks) for report in reports
    )
    since = f"has had NVLink errors since its driver was loaded: {reports[0].xid.title}{'; its links are up now' if up else ''}"
    return finding(f"{reports[0].label} {since}.", reports, xids.action(reports), repairs, context)


def repairs(context: Context, *, action: str = "", devices: str = "", xids: str = "") -> Fixes:
    """Repair the links.

    Args:
        context: where.
        action: the required one; empty: that of the messages.
        devices: addresses or UUIDs of the GPUs, with commas.
        xids: codes of the kernel's messages, with commas.
    """
    wanted = required_action(action, xids, Action.RESET_GPU)
    yield from act(context, wanted, devices, xids)
    yield _HARDWARE
    yield _LOOK
