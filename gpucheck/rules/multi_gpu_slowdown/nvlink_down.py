"""Some NVLinks of a GPU are down.

Symptom:
    nvidia-smi nvlink --status shows <inactive> for some links of one GPU.
    NVRM: Xid (PCI:0000:3b:00): 74
    CUDA_ERROR_NVLINK_UNCORRECTABLE
Cause:
    A link failed in the GPU, in the bridge or in an NVSwitch, or did not come up when the machine started. Transfers then take
    the remaining links, or PCIe, and every step of a multi-GPU job waits for the slowest GPU.
Fix:
    1. Look at the links
       $ nvidia-smi nvlink --status
    2. Take the machine out of service and restart it; links that stay down need the board or the bridge replaced
    3. Meanwhile, leave the GPU out: export CUDA_VISIBLE_DEVICES=...
Verify:
    nvidia-smi nvlink --status: no link is inactive.
Unless:
    The links were reset after the Xid that the kernel's log tells of: gpucheck then warns until the machine is restarted.
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

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.gpus import Gpu, Gpus
from gpucheck.probes.kernel_log import KernelLog
from gpucheck.probes.log import Log
from gpucheck.probes.pci import Pci
from gpucheck.probes.training import Training
from gpucheck.rules._gpus import title
from gpucheck.rules._training import failure
from gpucheck.rules._xid import Reported, advice, affected, cited, decoded, reported

UNCORRECTABLE = r"CUDA_ERROR_NVLINK_UNCORRECTABLE|NVLink error"


@rule(severity=Severity.WARNING, scope=Scope.HARDWARE, explains=("nccl-failed", "peer-access-unavailable", "scaling-inefficient"))
def check(
    gpus: Gpus | None,
    pci: Pci | None,
    container: Container | None,
    training: Training | None,
    kernel_log: KernelLog | None,
    log: Log | None,
) -> Finding | Skip | None:
    """Links of one GPU are down that its fabric, or its sisters in this machine, show should be up; or an Xid says so."""
    linked = [(place, gpu) for place, gpu in enumerate(gpus.gpus) if gpu.nvlinks] if gpus is not None else []
    switched = pci is not None and bool(pci.nvswitches)
    down = [(place, gpu) for place, gpu in linked if _down(gpu, [other for _, other in linked], switched)]
    reports = [one for one in reported(kernel_log, "nvlink-down", gpus, pci, container) if "Nonfatal" not in one.text]
    if gpus is not None and down:
        return _finding(gpus, down, reports)
    if reports:
        return _reported(reports)
    seen = failure(training, log, UNCORRECTABLE, "xid", where=lambda event: decoded(event, "nvlink-down") is not None)
    if seen is not None and not isinstance(seen, Skip):
        known = decoded(seen.event, "nvlink-down") if seen.event is not None else None
        return Finding(
            summary=f"An NVLink failed: {seen.text}.",
            evidence=seen.evidence,
            fix=(*advice([known] if known is not None else []), *_fix()),
            affects=seen.affects,
            severity=Severity.ERROR,
        )
    if any(_partly(gpu) for _, gpu in linked) and len(linked) == 1:
        return Skip("some NVLinks are inactive, and one GPU alone does not tell whether they should be connected")
    return None if gpus is not None else seen


def _reported(reports: list[Reported]) -> Finding:
    """A link that failed and works again may have been reset; one whose state is not known may still be down."""
    first = reports[0]
    up = all(one.gpu is not None and one.gpu.nvlinks and not _inactive(one.gpu) for one in reports)
    now = "; its links are up now" if up else ""
    return Finding(
        summary=f"{first.label} has had NVLink trouble since its driver was loaded: {first.words}{now}.",
        evidence=cited(reports),
        fix=(*advice(one.known for one in reports), *_fix()),
        affects=affected(reports),
        severity=Severity.WARNING if up else Severity.ERROR,
    )


def _finding(gpus: Gpus, down: list[tuple[int, Gpu]], reports: list[Reported]) -> Finding:
    _, worst = max(down, key=lambda item: len(_inactive(item[1])))
    more = f"; {len(down)} GPUs have links that are down" if len(down) > 1 else ""
    return Finding(
        summary=f"{len(_inactive(worst))} of {len(worst.nvlinks)} NVLinks of {title(worst)} are down{more}.",
        evidence=tuple(
            item for place, gpu in down for item in saw(gpus, *(f"gpus[{place}].nvlinks[{link}]" for link in _inactive(gpu)))
        )
        + cited(reports),
        fix=(*advice(one.known for one in reports), *_fix()),
        affects=tuple(f"GPU {gpu.index}" for _, gpu in down),
    )


def _fix() -> tuple[Fix, ...]:
    return (
        Fix(text="Look at the links", command="nvidia-smi nvlink --status"),
        Fix(text="Take the machine out of service and restart it; links that stay down need new hardware"),
    )


def _inactive(gpu: Gpu) -> list[int]:
    return [place for place, link in enumerate(gpu.nvlinks) if not link.active]


def _partly(gpu: Gpu) -> bool:
    return 0 < len(_inactive(gpu)) < len(gpu.nvlinks)


def _down(gpu: Gpu, all_gpus: list[Gpu], switched: bool) -> bool:
    """Boards with switches use every link; bridges leave some free, but the same number on each GPU of a kind."""
    if _partly(gpu) and (switched or gpu.fabric_state == "completed"):
        return True
    up = len(gpu.nvlinks) - len(_inactive(gpu))
    most = max(len(other.nvlinks) - len(_inactive(other)) for other in all_gpus if other.name == gpu.name)
    return _partly(gpu) and up < most
