"""A GPU of this machine no longer responds, or its driver could not start it.

Symptom:
    NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.
    Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost. Reboot the system to recover this GPU
    GPU requires reset
    NVRM: GPU 0000:3b:00.0: RmInitAdapter failed!
    NVRM: Xid (PCI:0000:3b:00): 119, Timeout waiting for RPC from GSP!
    ERR! instead of values in nvidia-smi
Cause:
    The card lost its connection or its firmware hangs. Causes are heat, a failing power cable or supply, a bad slot or riser, a
    faulty board, or an uncorrectable memory error that requires a reset.
Fix:
    1. Read the kernel's messages about it
       ? sudo dmesg | grep -i -E "nvrm|xid" | tail
    2. If a reset is required: end every program on that GPU, then reset it
       $ sudo nvidia-smi --gpu-reset -i 0
    3. If the GPU is lost: power the machine off and on again; a warm restart is often not enough
    4. If it happens again: check power, seating and temperature, and have the board replaced
Verify:
    nvidia-smi lists as many GPUs as lspci -d 10de: does, without ERR!.
Unless:
    The kernel's log contains an Xid, but the GPU was reset since: it responds again, and gpucheck only warns until the machine is
    restarted. Otherwise keep jobs off this GPU until it is repaired.
Example:
    gpus.gpus = [{"index": 0, "problem": "GPU is lost", "result": 15, "pci_address": "0000:00:06.0"}]
    cuda = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> GPU 0 at 0000:00:06.0 no longer responds to its driver: GPU is lost.
References:
    https://docs.nvidia.com/deploy/xid-errors/
"""

import msgspec

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.xid_reports import XidReport, XidReports, affected, cited, fixes
from gpucheck.core.compat.xid import Xid
from gpucheck.core.model import Action, Evidence, Finding, Fix, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.device_nodes import DeviceNodes
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.repairs.fixes import for_xids
from gpucheck.core.repairs.wording import listing
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_RESET_REQUIRED = 16
_LOST = (8, 10, 11, 15, _RESET_REQUIRED)  # power cables, timeout, interrupts, lost, reset required
_UNKNOWN = 999  # of a GPU's handle, not of one query: the other way in which NVML says "lost"
_NOT_FOUND = 28


class LostGpu(msgspec.Struct, frozen=True):
    """A GPU that does not respond, and the evidence."""

    label: str  # "GPU 3 at 0000:3b:00.0", or what else is known of it
    reason: str
    evidence: tuple[Evidence, ...]
    affects: tuple[str, ...] = ()
    xid: Xid | None = None


@rule(
    severity=Severity.ERROR,
    scope=Scope.HARDWARE,
    explains=(
        *WITHOUT_CUDA,
        "driver-unresponsive",
        "driver-not-loaded",
        "no-nvidia-gpu",
        "container-without-gpu",
        "nvlink-down",
        "nccl-failed",
        "training-crashed",
        "replica-count-mismatch",
    ),
)
def check(stack: CudaStack, xids: XidReports) -> Finding | None:
    """Report a GPU that NVML calls lost, a device file that returns EIO, a GPU that its driver does not list, or an Xid."""
    driver, gpus, reports = stack.driver, xids.gpus, xids.of("gpu")
    lost = [
        *_unanswering(stack, gpus),
        *(_input_output_errors(stack.device_nodes) or _unlisted(stack, gpus)),
        *(_reported(report) for report in reports if not report.answers),
        *(_reported(report) for report in xids.logged("gpu")),
    ]
    if not lost and driver.result in _LOST:
        problem = driver.problem or driver.result_name or f"NVML error {driver.result}"
        lost = [LostGpu("A GPU of this machine", problem, saw(driver, "result", "problem"))]
    if not lost:
        return _answering_again(reports) if reports else None
    labels = list(dict.fromkeys(gpu.label for gpu in lost))
    reasons = listing(list(dict.fromkeys(gpu.reason for gpu in lost)))
    verb = "no longer responds to its driver" if len(labels) == 1 else "no longer respond to their driver"
    reset = [gpu.index for gpu in (gpus.gpus if gpus is not None else ()) if gpu.result == _RESET_REQUIRED]
    return Finding(
        action=Action.RESET_GPU if reset or driver.result == _RESET_REQUIRED else Action.POWER_CYCLE,
        summary=f"{listing(labels)} {verb}: {reasons}.",
        evidence=tuple(item for gpu in lost for item in gpu.evidence),
        fix=(
            *for_xids(gpu.xid for gpu in lost if gpu.xid is not None),
            *_fixes(reset, driver.result == _RESET_REQUIRED),
        ),
        affects=tuple(dict.fromkeys(name for gpu in lost for name in gpu.affects)),
    )


def _answering_again(reports: list[XidReport]) -> Finding:
    """Return a warning: the GPUs respond, but the log does not show whether they were reset."""
    first, *others = reports
    more = f", and {len(others)} more such messages" if others else ""
    return Finding(
        summary=f"{first.label} responds now, but the kernel has reported since its driver was loaded: {first.meaning}{more}.",
        evidence=cited(reports),
        fix=(
            *fixes(reports),
            Fix(text="If the GPU was reset since, ignore it; restarting the machine clears the log"),
        ),
        affects=affected(reports),
        action=Action.IGNORE,
    )


def _unanswering(stack: CudaStack, gpus: Gpus | None) -> list[LostGpu]:
    fatal = _LOST if stack.wsl.inside else (*_LOST, _UNKNOWN)
    return [
        LostGpu(
            gpu.label + (f" at {gpu.pci_address}" if gpu.pci_address else ""),
            gpu.problem or f"NVML error {gpu.result}",
            saw(gpus, f"gpus[{place}].problem", f"gpus[{place}].result"),
            (gpu.label,),
        )
        for place, gpu in enumerate(gpus.gpus if gpus is not None else ())
        if gpus is not None and gpu.result in fatal
    ]


def _input_output_errors(device_nodes: DeviceNodes) -> list[LostGpu]:
    """What the driver answers to whoever opens a GPU that it could not start."""
    return [
        LostGpu(
            f"The GPU behind {node.path}",
            "opening it gives an input/output error (EIO)",
            saw(device_nodes, f"gpus[{place}].path", f"gpus[{place}].error"),
        )
        for place, node in enumerate(device_nodes.gpus)
        if node.error == "EIO"
    ]


def _unlisted(stack: CudaStack, gpus: Gpus | None) -> list[LostGpu]:
    """GPUs that the nvidia driver holds and NVML leaves out, where this process is kept from none on purpose."""
    driver, nodes = stack.driver, stack.device_nodes.gpus
    if stack.wsl.inside or stack.container.inside or not (driver.status == "ok" or driver.result == _NOT_FOUND):
        return []
    listed = {gpu.pci_address for gpu in gpus.gpus} if gpus is not None else {None}
    if None in listed or not nodes or not all(node.openable for node in nodes):
        return []
    return [
        LostGpu(
            f"The GPU at {function.address}",
            "it uses the nvidia driver, which does not list it",
            (*saw(stack.pci, f"gpus[{place}].address", f"gpus[{place}].kernel_driver"), *saw(driver, "status", "gpu_count")),
        )
        for place, function in enumerate(stack.pci.gpus)
        if function.kernel_driver == "nvidia" and function.address not in listed
    ]


def _reported(report: XidReport) -> LostGpu:
    return LostGpu(report.label, report.meaning, report.evidence, affected([report]), report.xid)


def _fixes(reset: list[int], any_gpu: bool) -> tuple[Fix, ...]:
    read = Fix(text="Read the kernel's messages about it", command='sudo dmesg | grep -i -E "nvrm|xid" | tail', kind="look")
    cold = Fix(text="Power the machine off and on again; if it happens again, check power and seating, and replace the board")
    if not reset and not any_gpu:
        return (read, cold)
    which = f" -i {','.join(str(index) for index in reset)}" if reset else ""
    command = f"sudo nvidia-smi --gpu-reset{which}"
    return (Fix(text="End every program on the GPU, then reset it", command=command), read, cold)
