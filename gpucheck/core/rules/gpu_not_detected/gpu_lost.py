"""A GPU of this machine no longer responds, could not be started, or needs a reset.

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
Verify:
    nvidia-smi lists as many GPUs as lspci -d 10de: does, without ERR!.
Unless:
    The GPU has been reset since: the driver then reports that no action is needed (NVML's recovery action, Xid 154), and gpucheck
    reports nothing. Older drivers do not report it, so the fault remains until the driver is reloaded or the machine restarted.
Example:
    gpus.gpus = [{"index": 0, "problem": "GPU is lost", "result": 15, "pci_address": "0000:00:06.0"}]
    cuda = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> GPU 0 at 0000:00:06.0 no longer responds to its driver: GPU is lost.
References:
    https://docs.nvidia.com/deploy/xid-errors/
"""

from collections.abc import Sequence

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.xid_reports import (
    GpuReport,
    XidReport,
    XidReports,
    affected,
    cited,
    codes,
    finding,
    has_memory_errors,
    logged,
)
from gpucheck.core.compat.nvml import GPU_LOST, GPU_NOT_FOUND, HANDLE_LOST, action_of
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Action, Finding, Fix, Fixes, Level, Request, Scope, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.device_nodes import DeviceNodes
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.machine import act, required_action
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_READ = Fix.look("Read the kernel's messages about it", 'sudo dmesg | grep -i -E "nvrm|xid" | tail')
_AGAIN = Fix(text="If it happens again: check power, seating and temperature, and have the board replaced")


class LostGpu(GpuReport, frozen=True):
    """A GPU that does not respond."""

    reason: str
    action: Action = Action.POWER_CYCLE
    code: int | None = None  # the Xid's
    file: str = ""  # its device file, if nothing else identifies it

    @property
    def label(self) -> str:
        """'GPU 3 at 0000:3b:00.0', or the known part of it."""
        return f"The GPU behind {self.file}" if self.file else super().label


@rule(
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
        "gpu-count-unexpected",
    ),
)
def check(
    stack: CudaStack, gpus: Gpus | None, pci: Pci, log: Log | None, request: Request, xids: XidReports, context: Context
) -> Finding | Skip | None:
    """Report a GPU that NVML reports as lost, a device file that returns EIO, a GPU that its driver does not list, or an Xid."""
    driver, reports = stack.driver, [*xids.of("gpu"), *xids.of("start")]
    lost = [
        *_unresponsive(stack, gpus, xids),
        *(_input_output_errors(stack.device_nodes) or _unlisted(stack, pci, gpus)),
        *(_reported(report) for report in reports if not report.responds and report.xid.fault == "gpu"),
        *(_reported(report) for report in logged(log, "gpu")),
    ]
    if not lost and driver.result in GPU_LOST:
        problem = driver.problem or driver.result_name or f"NVML error {driver.result}"
        lost = [LostGpu(None, None, saw(driver, "result", "problem"), problem, Action(action_of(driver.result)))]
    if not lost:
        found = _responding([report for report in reports if report.responds], xids, gpus, context)
        unread = xids.unread if request.level is Level.NODE else None  # other levels train, and need no permission to read it
        return Skip(f"the kernel log was not read completely: {unread}") if found is None and unread else found
    labels = list(dict.fromkeys(gpu.label for gpu in lost))
    reasons = listing(list(dict.fromkeys(gpu.reason for gpu in lost)))
    verb = "no longer responds to its driver" if len(labels) == 1 else "no longer respond to their driver"
    action = Action.strongest(gpu.action for gpu in lost)
    return Finding(
        summary=f"{listing(labels)} {verb}: {reasons}.",
        evidence=cited(lost),
        fix=repairs(
            context,
            action=action.value,
            devices=",".join(sorted({gpu.device for gpu in lost if gpu.device is not None})),
            xids=codes(lost),
        ),
        action=action,
        affects=affected(lost),
    )


def _responding(reports: list[XidReport], xids: XidReports, gpus: Gpus | None, context: Context) -> Finding | None:
    """Report what the driver or its messages require for GPUs that respond."""
    elsewhere = {report.device for report in xids.reports}
    # ecc-errors reports these
    faulty = [gpu for gpu in (gpus.gpus if gpus is not None else ()) if has_memory_errors(gpu)]
    needed = [request for request in xids.requested_actions.values() if request.action is not Action.IGNORE]
    requests = [request for request in needed if request.device not in elsewhere and request.gpu not in faulty]
    messages = sorted(xids.driver_messages, key=lambda message: message.action is Action.IGNORE)
    first: Sequence[GpuReport]
    if reports:
        more = f", and {len(reports) - 1} more such messages" if len(reports) > 1 else ""
        first, reason = reports, f"the kernel has reported since its driver was loaded: {reports[0].xid.title}{more}"
    elif requests:
        first, reason = requests, f"the driver requests an action: {requests[0].recovery.advice}"
    elif messages:
        first, reason = messages, f"the driver has reported since it was loaded: {messages[0].words}"
    else:
        return None
    if first is not messages:  # reports and requests require an action
        messages = [item for item in messages if item.action is not Action.IGNORE and item.device not in xids.requested_actions]
    of_reports = [xids.action(reports)] if reports else []
    others = [*(request.action for request in requests), *(message.action for message in messages)]
    action = Action.strongest([*of_reports, *others])
    sources = [request for report in reports if (request := xids.requested_action(report.gpu)) is not None]
    named = [*reports, *requests, *messages]
    also = dict.fromkeys(item.label for item in named if item.label not in {item.label for item in first})
    reason += f"; the driver also requests an action for {listing(list(also))}" if also else ""
    return finding(f"{_respond(first)}, but {reason}.", named, action, repairs, context, sources)


def _respond(named: Sequence[GpuReport]) -> str:
    others = len({item.label for item in named}) - 1
    return f"{named[0].label} and {others} more GPU{'s' * (others > 1)} respond" if others else f"{named[0].label} responds"


def _unresponsive(stack: CudaStack, gpus: Gpus | None, xids: XidReports) -> list[LostGpu]:
    fatal = GPU_LOST if stack.wsl.inside else HANDLE_LOST
    return [
        LostGpu(
            xids.addresses.get(gpu.index),
            gpu,
            saw(gpus, f"gpus[{place}].problem", f"gpus[{place}].result"),
            gpu.problem or f"NVML error {gpu.result}",
            Action(action_of(gpu.result)),
        )
        for place, gpu in enumerate(gpus.gpus if gpus is not None else ())
        if gpu.result in fatal
    ]


def _input_output_errors(device_nodes: DeviceNodes) -> list[LostGpu]:
    """Return the GPUs whose device file returns EIO: the driver could not start them."""
    return [
        LostGpu(
            None,
            None,
            saw(device_nodes, f"gpus[{place}].path", f"gpus[{place}].error"),
            "opening it returns an input/output error (EIO)",
            file=node.path,
        )
        for place, node in enumerate(device_nodes.gpus)
        if node.error == "EIO"
    ]


def _unlisted(stack: CudaStack, pci: Pci, gpus: Gpus | None) -> list[LostGpu]:
    """Return the GPUs bound to the nvidia driver that NVML does not list, unless GPUs are hidden from this process on purpose."""
    driver, nodes = stack.driver, stack.device_nodes.gpus
    if stack.wsl.inside or stack.container.inside or not (driver.status == "ok" or driver.result == GPU_NOT_FOUND):
        return []
    listed = {gpu.pci_address for gpu in gpus.gpus} if gpus is not None else {None}
    if None in listed or not nodes or not all(node.openable for node in nodes):
        return []
    return [
        LostGpu(
            function.address,
            None,
            (*saw(pci, f"gpus[{place}].address", f"gpus[{place}].kernel_driver"), *saw(driver, "status", "gpu_count")),
            "it uses the nvidia driver, which does not list it",
        )
        for place, function in enumerate(pci.gpus)
        if function.kernel_driver == "nvidia" and function.address not in listed
    ]


def _reported(report: XidReport) -> LostGpu:
    return LostGpu(report.device, report.gpu, report.evidence, report.xid.title, report.action, report.code)


_AT_START = {
    "gpu-asleep": (
        Fix(
            text="Disable power saving of PCIe ports: add pcie_port_pm=off to the kernel's command line (for passthrough, also"
            " vfio-pci.disable_idle_d3=1), then restart the machine"
        ),
    ),
    "gpu-guest": (
        Fix(
            text="Correct the virtual machine's passthrough: UEFI firmware, and a large 64-bit window for the GPU's memory (VMware:"
            " pciPassthru.use64bitMMIO=TRUE and pciPassthru.64bitMMIOSizeGB); if that is right, install another driver branch"
        ),
    ),
}


def repairs(context: Context, *, action: str = "", devices: str = "", xids: str = "", start: str = "") -> Fixes:
    """Bring the GPU back, or keep jobs off it.

    Args:
        context: what is known about the machine.
        action: the required action; empty for the one that the messages require.
        devices: comma-separated addresses or UUIDs of the GPUs.
        xids: comma-separated codes of the kernel's messages.
        start: why the GPU may not have started: "gpu-asleep", "gpu-guest"; empty if unknown.
    """
    yield from _AT_START.get(start, ())
    required = required_action(action, xids, Action.IGNORE)
    if required is Action.IGNORE and not action:
        reset = Fix(
            text="If a reset is required: end every program on the GPU, then reset it by its index N: nvidia-smi --gpu-reset -i N"
        )
        yield from act(context, Action.POWER_CYCLE)
        yield from context.only(reset, system="linux")
    yield from act(context, required, devices, xids)
    if required is Action.SERVICE:
        yield Fix(text="Check the board's power cables and the power supply")
    yield _AGAIN
    yield _READ
