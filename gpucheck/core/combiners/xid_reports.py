"""Decoded messages of the kernel's log about this machine's GPUs, and the recovery actions that the driver requests."""

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from gpucheck.core.compat.xid import NONE_NEEDED, RECOVERIES, RECOVERY_CHANGED, Recovery, Xid, recovery_of, xid
from gpucheck.core.logs.log import Log
from gpucheck.core.logs.xid import reported
from gpucheck.core.model import Action, Evidence, Fact, Finding, Fix, combiner, saw
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.kernel_log import KernelLog, SxidEvent
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.context import Context

_ADDRESS = r"\b(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.0)?\b"
_PROCESS_NAME = r"'.*'|\bname=.*"  # a user chooses it, quotes included
# Messages of the driver without an Xid: the requested action, and a description.
_COMPLAINTS = (
    (r"(?i)needs to be reset|requires? (?:a )?reset|reset required", Action.RESET_GPU, "it needs a reset"),
    (
        r"(?i)waiting for RPC response from GPU|heartbeat timed ?out|rpcRecvPoll timed ?out|GSP[_ ]TIMEOUT",
        Action.IGNORE,
        "its firmware (GSP) did not respond in time",
    ),
    (r"RmInitAdapter failed|rm_init_adapter failed", Action.IGNORE, "its driver could not start it"),
)


class GpuReport(msgspec.Struct, frozen=True):
    """What the driver says about a GPU of this machine."""

    device: str | None  # "0000:3b:00.0"; None: unknown
    gpu: Gpu | None  # None: NVML does not list it
    evidence: tuple[Evidence, ...]

    @property
    def label(self) -> str:
        """'GPU 3 at 0000:3b:00.0', or the known part of it."""
        if self.gpu is not None:
            return f"{self.gpu.label} at {self.device}" if self.device else self.gpu.label
        return f"The GPU at {self.device}" if self.device else "A GPU of this machine"

    @property
    def code(self) -> int | None:
        """The code of the Xid; None: it is no Xid."""
        return None


class XidReport(GpuReport, frozen=True):
    """One Xid message."""

    xid: Xid
    text: str

    @property
    def responds(self) -> bool:
        """Whether NVML can talk to the GPU now."""
        return self.gpu is not None and self.gpu.result is None and self.gpu.problem is None

    @property
    def code(self) -> int:
        """The code of the Xid."""
        return self.xid.code

    @property
    def action(self) -> Action:
        """The action that the message requests."""
        return Action(self.xid.action)


class Demand(GpuReport, frozen=True):
    """The action that the driver requests for a GPU: NVML's recovery action, else that of the latest Xid 154."""

    recovery: Recovery

    @property
    def action(self) -> Action:
        """The requested action."""
        return Action(self.recovery.action)


class Complaint(GpuReport, frozen=True):
    """A message of the driver that requests an action without an Xid, or an Xid that is not in the table."""

    action: Action
    words: str
    code: int | None = None  # of the Xid


class XidReports(Fact, frozen=True, kw_only=True):
    """The current faults that messages report, the latest of each code and GPU; and the GPUs themselves.

    The driver's requested action overrides earlier messages: it clears the faults of a GPU that was reset since.
    """

    gpus: Gpus | None
    pci: Pci | None
    log: Log | None
    reports: tuple[XidReport, ...] = ()
    demands: dict[str, Demand] = {}  # noqa: RUF012 - by the GPU's address; msgspec copies an empty default
    complaints: tuple[Complaint, ...] = ()
    switch_faults: tuple[tuple[SxidEvent, tuple[Evidence, ...]], ...] = ()  # fatal messages of NVSwitches of this machine
    addresses: dict[int, str] = {}  # noqa: RUF012 - by the GPU's index, if known
    last_message: tuple[Evidence, ...] = ()  # the driver's last message without an Xid
    unread: str | None = None  # why recent messages may be missing

    def logged(self, fault: str) -> list[XidReport]:
        """The reports of a fault in the run's own log."""
        events = self.log.events if self.log is not None else ()
        return [
            XidReport(event.fields.get("device"), None, saw(self.log, f"events[{events.index(event)}].text"), message, event.text)
            for event, message in reported(events, fault)
        ]

    def of(self, fault: str) -> list[XidReport]:
        """The reports of a fault: see ``Xid.fault``."""
        return [report for report in self.reports if report.xid.fault == fault]

    def demand(self, gpu: Gpu | None) -> Demand | None:
        """The driver's demand for a GPU; None if it has none."""
        return self.demands.get(self.addresses.get(gpu.index, "")) if gpu is not None else None

    def action(self, reports: Iterable[XidReport]) -> Action:
        """The strongest action of these reports; for each, the driver's demand if there is one, else that of the message."""
        return Action.strongest(
            demand.action if (demand := self.demand(report.gpu)) is not None else report.action for report in reports
        )

    def needs_no_action(self, gpu: Gpu) -> bool:
        """Whether the driver reports that the GPU needs no action."""
        return (demand := self.demand(gpu)) is not None and demand.action is Action.IGNORE


def codes(reports: Iterable[GpuReport]) -> str:
    """The codes as an argument of repairs: '79,119'."""
    return ",".join(dict.fromkeys(str(report.code) for report in reports if report.code is not None))


def devices(reports: Iterable[GpuReport]) -> str:
    """The addresses as an argument of repairs: '0000:3b:00.0'."""
    return ",".join(dict.fromkeys(report.device for report in reports if report.device is not None))


def cited(reports: Iterable[GpuReport]) -> tuple[Evidence, ...]:
    """The evidence: lines of the kernel's log, and values from NVML."""
    return tuple(item for report in reports for item in report.evidence)


def affected(reports: Iterable[GpuReport]) -> tuple[str, ...]:
    """'GPU 3', for those that NVML lists."""
    return tuple(dict.fromkeys(report.gpu.label for report in reports if report.gpu is not None))


def finding(
    summary: str,
    reports: Sequence[GpuReport],
    action: Action,
    repairs: Callable[..., Iterable[Fix]],
    context: Context,
    sources: Sequence[GpuReport] = (),
) -> Finding:
    """The finding about the GPUs that these reports name.

    Args:
        summary: of the finding.
        reports: about the GPUs.
        action: with the hardware.
        repairs: of the rule.
        context: where.
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
def combine(
    kernel_log: KernelLog | None, gpus: Gpus | None, pci: Pci | None, container: Container | None, log: Log | None
) -> XidReports:
    """Decode the messages. A container may see its host's log and PCI bus, so there only the GPUs that NVML lists count.

    Xids that programs cause themselves (13, 31, 43, 45) are not faults of the machine.
    """
    kernel_log = kernel_log or KernelLog(readable=False)
    machine = _Machine(gpus, None if container is not None and container.inside else pci)
    actions, messages = machine.recovery_actions(), machine.recovery_messages(kernel_log)
    latest: dict[tuple[int, str], XidReport] = {}
    for place, event in enumerate(kernel_log.events):
        message, device = xid(event.code), event.device
        if message is None or message.fault is None or device is None or device not in machine.addresses:
            continue
        evidence = saw(kernel_log, f"events[{place}].text", f"events[{place}].time")
        if not _cleared(device, place, actions, messages):
            latest[event.code, device] = XidReport(device, machine.listed.get(device), evidence, message, event.text)
    demands = {device: demand for device, (_, demand) in messages.items() if demand.action is not Action.IGNORE} | actions
    return XidReports(
        gpus=gpus,
        pci=pci,
        log=log,
        reports=tuple(latest.values()),
        demands=demands,
        complaints=machine.complaints(kernel_log, demands),
        switch_faults=machine.switch_faults(kernel_log),
        addresses={gpu.index: device for device, gpu in machine.listed.items()},
        last_message=saw(kernel_log, f"nvrm[{len(kernel_log.nvrm) - 1}]") if kernel_log.nvrm else (),
        unread=kernel_log.unread,
    )


def _cleared(device: str, place: int, actions: dict[str, Demand], messages: dict[str, tuple[int, Demand]]) -> bool:
    """Whether the driver reports that no action is needed: in NVML, or in the log after this message."""
    if device in actions:
        return actions[device].action is Action.IGNORE
    after, demand = messages.get(device, (-1, None))
    return demand is not None and after > place and demand.action is Action.IGNORE


class _Machine:
    """The GPUs of this machine by their addresses."""

    def __init__(self, gpus: Gpus | None, pci: Pci | None) -> None:
        """Match GPUs to addresses. NVML lists them in the bus's order, which identifies a lost GPU without an address."""
        self.gpus, self.pci = gpus, pci
        every = gpus.gpus if gpus is not None else ()
        self.listed = {gpu.pci_address: gpu for gpu in every if gpu.pci_address}
        self.addresses = {*self.listed, *(gpu.address for gpu in (pci.gpus if pci is not None else ()))}
        nameless, free = [gpu for gpu in every if not gpu.pci_address], sorted(self.addresses - self.listed.keys())
        if len(nameless) == len(free):
            self.listed |= dict(zip(free, nameless, strict=True))

    def recovery_actions(self) -> dict[str, Demand]:
        """NVML's recovery actions by address; unknown numbers are ignored."""
        return {
            device: Demand(device, gpu, saw(self.gpus, f"gpus[{place}].recovery_action"), RECOVERIES[gpu.recovery_action])
            for place, gpu in enumerate(self.gpus.gpus if self.gpus is not None else ())
            for device in [gpu.pci_address]
            if device is not None and gpu.recovery_action in RECOVERIES
        }

    def recovery_messages(self, kernel_log: KernelLog) -> dict[str, tuple[int, Demand]]:
        """The latest Xid 154 of each GPU, with its index in the log."""
        return {
            event.device: (
                place,
                Demand(event.device, self.listed.get(event.device), saw(kernel_log, f"events[{place}].text"), RECOVERIES[number]),
            )
            for place, event in enumerate(kernel_log.events)
            if event.code == RECOVERY_CHANGED and event.device in self.addresses
            for number in [recovery_of(event.text)]
            if number in RECOVERIES
        }

    def complaints(self, kernel_log: KernelLog, demands: dict[str, Demand]) -> tuple[Complaint, ...]:
        """The latest of each kind and GPU, without those of GPUs that need no action. Only a message that names a GPU drains."""
        well = {device for device, demand in demands.items() if demand.recovery is RECOVERIES[NONE_NEEDED]}
        latest: dict[tuple[str, str | None], Complaint] = {}
        for place, text in enumerate(kernel_log.nvrm):
            address = re.search(_ADDRESS, said := re.sub(_PROCESS_NAME, "", text))
            device = f"{int(address[1] or '0', 16):04x}:{address[2]}:{address[3]}.0".lower() if address else None
            about, seen = {device} if device is not None else self.addresses, saw(kernel_log, f"nvrm[{place}]")
            if not about <= self.addresses or about <= well:
                continue
            for pattern, action, words in _COMPLAINTS:
                if re.search(pattern, said) and (device is not None or action is Action.IGNORE):
                    latest[words, device] = Complaint(device, self.listed.get(device or ""), seen, action, words)
        return (*latest.values(), *self._unknown(kernel_log, well))

    def _unknown(self, kernel_log: KernelLog, well: set[str]) -> tuple[Complaint, ...]:
        """The latest message of each GPU and unknown code: to look up, not a reason to drain the node."""
        latest = {
            (event.code, event.device): Complaint(
                event.device,
                self.listed.get(event.device),
                saw(kernel_log, f"events[{place}].text"),
                Action.IGNORE,
                f"Xid {event.code}, which gpucheck does not know",
                event.code,
            )
            for place, event in enumerate(kernel_log.events)
            if xid(event.code) is None and event.device in self.addresses and event.device not in well
        }
        return tuple(latest.values())

    def switch_faults(self, kernel_log: KernelLog) -> tuple[tuple[SxidEvent, tuple[Evidence, ...]], ...]:
        """Fatal messages of the machine's NVSwitches, the latest of each code and switch."""
        switches = {switch.address for switch in (self.pci.nvswitches if self.pci is not None else ())}
        latest = {
            (event.code, event.device): (event, saw(kernel_log, f"sxids[{place}].text", f"sxids[{place}].time"))
            for place, event in enumerate(kernel_log.sxids)
            if event.fatal and event.device in switches
        }
        return tuple(latest.values())
