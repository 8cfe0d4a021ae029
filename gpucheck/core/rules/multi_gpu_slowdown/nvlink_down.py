"""Some NVLinks of a GPU are down.

Symptom:
    - nvidia-smi nvlink --status shows <inactive> for some links of one GPU.
    NVRM: Xid (PCI:0000:3b:00): 74
    CUDA_ERROR_NVLINK_UNCORRECTABLE
Cause:
    A link failed in the GPU, in the bridge or in an NVSwitch, or did not come up when the machine started. Transfers then take
    the remaining links, or PCIe, and every step of a multi-GPU job waits for the slowest GPU.
Fix:
    1. Check the links
       ? nvidia-smi nvlink --status
    2. Take the machine out of service and restart it; links that stay down need the board or the bridge replaced
    3. Meanwhile, leave the GPU out: export CUDA_VISIBLE_DEVICES=...
Verify:
    nvidia-smi nvlink --status: no link is inactive.
Unless:
    The links were reset after the Xid in the kernel's log: gpucheck then warns until the machine is restarted.
    A bridge connects only some links by design: then all GPUs of the machine have the same number, and nothing is reported.
Example:
    machine: hgx-h200
    gpus.gpus[3].nvlinks[5].active = false
    gpus.gpus[3].nvlinks[6].active = false
    -> 2 of 18 NVLinks of GPU 3 (NVIDIA H200) are down.
References:
    https://docs.nvidia.com/deploy/xid-errors/index.html
    https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.xid_reports import XidReport, XidReports, affected, cited, fixes
from gpucheck.core.model import Action, Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.gpus import Gpu, Gpus

UNCORRECTABLE = r"CUDA_ERROR_NVLINK_UNCORRECTABLE|NVLink error"
FIX = (
    Fix(text="Check the links", command="nvidia-smi nvlink --status", kind="look"),
    Fix(text="Take the machine out of service and restart it; links that stay down need new hardware"),
)


@rule(severity=Severity.WARNING, scope=Scope.HARDWARE, explains=("nccl-failed", "peer-access-unavailable", "scaling-inefficient"))
def check(xids: XidReports, log_causes: LogCauses) -> Finding | Skip | None:
    """Links of one GPU are down that its fabric, or the others of this machine, show should be up; or an Xid says so."""
    gpus, pci = xids.gpus, xids.pci
    linked = [gpu for gpu in gpus.gpus if gpu.nvlinks] if gpus is not None else []
    switched = pci is not None and bool(pci.nvswitches)
    reports = [report for report in xids.of("nvlink") if "Nonfatal" not in report.text]
    if gpus is not None and any(_down(gpu, linked, switched) for gpu in linked):
        down = [(place, gpu) for place, gpu in enumerate(gpus.gpus) if gpu in linked and _down(gpu, linked, switched)]
        return _counted(gpus, down, reports)
    if reports:
        return _reported(reports)
    failure = log_causes.failure("nvlink-down", UNCORRECTABLE, "An NVLink failed: {text}.", FIX, severity=Severity.ERROR)
    if failure is not None:
        return failure
    if len(linked) == 1 and _partly(linked[0]):
        return Skip("some NVLinks are inactive, but a single GPU does not show whether they should be connected")
    return None if gpus is not None else log_causes.outcomes.skip


def _counted(gpus: Gpus, down: list[tuple[int, Gpu]], reports: list[XidReport]) -> Finding:
    _, worst = max(down, key=lambda item: len(_inactive(item[1])))
    more = f"; {len(down)} GPUs have links that are down" if len(down) > 1 else ""
    fields = (f"gpus[{place}].nvlinks[{link}]" for place, gpu in down for link in _inactive(gpu))
    return Finding(
        summary=f"{len(_inactive(worst))} of {len(worst.nvlinks)} NVLinks of {worst.title} are down{more}.",
        evidence=(*saw(gpus, *fields), *cited(reports)),
        fix=(*fixes(reports), *FIX),
        affects=tuple(gpu.label for _, gpu in down),
        action=Action.IGNORE,
    )


def _reported(reports: list[XidReport]) -> Finding:
    """A link that failed and works again may have been reset; one whose state is not known may still be down."""
    first = reports[0]
    up = all(report.gpu is not None and report.gpu.nvlinks and not _inactive(report.gpu) for report in reports)
    now = "; its links are up now" if up else ""
    return Finding(
        summary=f"{first.label} has had NVLink errors since its driver was loaded: {first.meaning}{now}.",
        evidence=cited(reports),
        fix=(*fixes(reports), *FIX),
        affects=affected(reports),
        action=Action.IGNORE if up else Action.RESET_GPU,
    )


def _inactive(gpu: Gpu) -> list[int]:
    return [place for place, link in enumerate(gpu.nvlinks) if not link.active]


def _partly(gpu: Gpu) -> bool:
    return 0 < len(_inactive(gpu)) < len(gpu.nvlinks)


def _down(gpu: Gpu, linked: list[Gpu], switched: bool) -> bool:
    """Boards with switches use every link; bridges leave some free, but the same number on each GPU of a kind."""
    if not _partly(gpu):
        return False
    if switched or gpu.fabric_state == "completed":
        return True
    most = max(_active(other) for other in linked if other.name == gpu.name)
    return _active(gpu) < most


def _active(gpu: Gpu) -> int:
    return sum(link.active for link in gpu.nvlinks)
