"""Decoded messages of the kernel log about this machine's GPUs, and the recovery actions that the driver requests."""

from collections.abc import Callable, Iterable, Sequence

from gpucheck.core.combiners._kernel_messages import COUNTED as COUNTED
from gpucheck.core.combiners._kernel_messages import DriverMessage, Machine, RequestedAction, cleared, repaired
from gpucheck.core.combiners._kernel_messages import GpuReport as GpuReport
from gpucheck.core.combiners._kernel_messages import XidReport as XidReport
from gpucheck.core.combiners._kernel_messages import has_memory_errors as has_memory_errors
from gpucheck.core.logs.log import Log
from gpucheck.core.logs.xid import reported
from gpucheck.core.model import Action, Evidence, Fact, Finding, Fix, combiner, saw
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.kernel_log import KernelLog, SxidEvent
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.context import Context


class XidReports(Fact, frozen=True, kw_only=True):
    """The current faults that messages report, the latest of each code and GPU.

    The driver's requested action overrides earlier messages: it clears the faults of a GPU that was reset since.
    """

    reports: tuple[XidReport, ...] = ()
    requested_actions: dict[str, RequestedAction] = {}  # noqa: RUF012 - by the GPU's address; msgspec copies an empty default
    driver_messages: tuple[DriverMessage, ...] = ()
    switch_faults: tuple[tuple[SxidEvent, tuple[Evidence, ...]], ...] = ()  # fatal messages of NVSwitches of this machine
    addresses: dict[int, str] = {}  # noqa: RUF012 - by the GPU's index, if known
    last_message: tuple[Evidence, ...] = ()  # the driver's last message without an Xid
    unread: str | None = None  # why recent messages may be missing

    def of(self, fault: str) -> list[XidReport]:
        """Return the reports of a fault: see ``Xid.fault``."""
        return [report for report in self.reports if report.xid.fault == fault]

    def requested_action(self, gpu: Gpu | None) -> RequestedAction | None:
        """Return the action that the driver requests for a GPU; None if it requests none."""
        return self.requested_actions.get(self.addresses.get(gpu.index, "")) if gpu is not None else None

    def action(self, reports: Iterable[XidReport]) -> Action:
        """Return the strongest action of these reports: for each, the driver's request if there is one, else the message's."""
        return Action.strongest(
            request.action if (request := self.requested_action(report.gpu)) is not None else report.action for report in reports
        )


def logged(log: Log | None, fault: str) -> list[XidReport]:
    """Return the reports of a fault in the run's own log."""
    events = log.events if log is not None else ()
    return [
        XidReport(event.fields.get("device"), None, saw(log, f"events[{events.index(event)}].text"), message, event.text)
        for event, message in reported(events, fault)
    ]


def codes(reports: Iterable[GpuReport]) -> str:
    """Return the codes as an argument of repairs: '79,119'."""
    return ",".join(dict.fromkeys(str(report.code) for report in reports if report.code is not None))


def devices(reports: Iterable[GpuReport]) -> str:
    """Return the addresses as an argument of repairs: '0000:3b:00.0'."""
    return ",".join(dict.fromkeys(report.device for report in reports if report.device is not None))


def cited(reports: Iterable[GpuReport]) -> tuple[Evidence, ...]:
    """Return the evidence: lines of the kernel log, and values from NVML."""
    return tuple(item for report in reports for item in report.evidence)


def affected(reports: Iterable[GpuReport]) -> tuple[str, ...]:
    """Return the labels, 'GPU 3', of the GPUs that NVML lists."""
    return tuple(dict.fromkeys(report.gpu.label for report in reports if report.gpu is not None))


def finding(
    summary: str,
    reports: Sequence[GpuReport],
    action: Action,
    repairs: Callable[..., Iterable[Fix]],
    context: Context,
    sources: Sequence[GpuReport] = (),
) -> Finding:
    """Return the finding about the GPUs in these reports.

    Args:
        summary: the finding's summary.
        reports: about the GPUs.
        action: the hardware action.
        repairs: the rule's function for repairs.
        context: what is known about the machine.
        sources: further reports that show it.
    """
    return Finding(
        summary=summary,
        evidence=cited([*reports, *sources]),
        fix=repairs(context, action=action.value, devices=devices(reports), xids=codes(reports)),
        action=action,
        affects=affected(reports),
    )


@combiner
def combine(kernel_log: KernelLog | None, gpus: Gpus | None, pci: Pci | None, container: Container | None) -> XidReports:
    """Decode the messages. A container may see its host's log and PCI bus, so only the GPUs that NVML lists are used there.

    Xids that programs cause themselves (13, 31, 43, 45) are not faults of the machine.
    """
    kernel_log = kernel_log or KernelLog(readable=False)
    machine = Machine(gpus, None if container is not None and container.inside else pci)
    actions, messages = machine.recovery_actions(), machine.recovery_messages(kernel_log)
    latest: dict[tuple[int, str], XidReport] = {}
    reset: set[str] = set()
    for place, device, report in machine.faults(kernel_log):
        if repaired(report):
            reset.add(device)
        elif not cleared(device, place, actions, messages):
            latest[report.code, device] = report
    reset -= {device for _, device in latest}  # the others were reset, as Xid 154 may have requested
    logged = {
        device: request
        for device, (_, request) in messages.items()
        if request.action is not Action.IGNORE and device not in reset
    }
    return XidReports(
        reports=tuple(latest.values()),
        requested_actions=logged | actions,
        driver_messages=machine.driver_messages(kernel_log, actions, messages),
        switch_faults=machine.switch_faults(kernel_log),
        addresses={gpu.index: device for device, gpu in machine.listed.items()},
        last_message=saw(kernel_log, f"nvrm[{len(kernel_log.nvrm) - 1}]") if kernel_log.nvrm else (),
        unread=kernel_log.unread,
    )
