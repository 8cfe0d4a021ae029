"""The GPUs of this machine by their addresses, and the kernel's messages about each."""

import re
from collections.abc import Iterator

import msgspec

from gpucheck.core.compat.xid import RECOVERIES, WITHOUT_XID, Recovery, Xid
from gpucheck.core.logs import xid
from gpucheck.core.logs.events import Event
from gpucheck.core.model import Action, Evidence, saw
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.kernel_log import KernelLog, SxidEvent
from gpucheck.core.probes.pci import Pci

_ADDRESS = r"\b(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.0)?\b"
_PROCESS_NAME = r"'.*'|\bname=.*"  # a user chooses it, quotes included
COUNTED = (48, 63, 64, 94, 95, 171, 172)  # Xids that NVML's counters also count until the GPU is reset


class GpuReport(msgspec.Struct, frozen=True):
    """The driver's report about a GPU of this machine."""

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
        """The code of the Xid; None if this is not an Xid."""
        return None


class XidReport(GpuReport, frozen=True):
    """One Xid message."""

    xid: Xid
    text: str

    @property
    def responds(self) -> bool:
        """Whether the GPU responds to NVML now."""
        return self.gpu is not None and self.gpu.result is None and self.gpu.problem is None

    @property
    def code(self) -> int:
        """The code of the Xid."""
        return self.xid.code

    @property
    def action(self) -> Action:
        """The action that the message requests."""
        return Action(self.xid.action)


class RequestedAction(GpuReport, frozen=True):
    """The action that the driver requests for a GPU: NVML's recovery action, else that of the latest Xid 154."""

    recovery: Recovery

    @property
    def action(self) -> Action:
        """The requested action."""
        return Action(self.recovery.action)


class DriverMessage(GpuReport, frozen=True):
    """A message of the driver that requests an action without an Xid, or an Xid that is not in the table."""

    action: Action
    words: str
    code: int | None = None  # of the Xid


def has_memory_errors(gpu: Gpu) -> bool:
    """Whether NVML reports memory errors of a GPU, or a failed or pending repair of its memory."""
    return bool(gpu.ecc_uncorrected_volatile or gpu.remapping_pending or gpu.remapping_failed or gpu.retired_pages_pending)


def repaired(report: XidReport) -> bool:
    """Whether NVML counts such errors and now reports none: the GPU was reset after this message."""
    gpu = report.gpu
    return (
        gpu is not None
        and report.code in COUNTED
        and gpu.ecc_uncorrected_volatile == 0
        and not (gpu.remapping_pending is None and gpu.retired_pages_pending is None)
        and not has_memory_errors(gpu)
    )


def cleared(
    device: str, place: int, actions: dict[str, RequestedAction], messages: dict[str, tuple[int, RequestedAction]]
) -> bool:
    """Whether the driver reports that no action is needed: in NVML, or in the log after this message."""
    if device in actions:
        return actions[device].action is Action.IGNORE
    after, request = messages.get(device, (-1, None))
    return request is not None and after > place and request.action is Action.IGNORE


class Machine:
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

    def events(self, kernel_log: KernelLog) -> list[Event]:
        """Return the Xid messages about these GPUs as events of a log. The line is the index in ``kernel_log.events``."""
        return [
            Event(kind="xid", line=place, text=event.text, fields={"code": str(event.code), "device": event.device})
            for place, event in enumerate(kernel_log.events)
            if event.device is not None and event.device in self.addresses
        ]

    def faults(self, kernel_log: KernelLog) -> Iterator[tuple[int, str, XidReport]]:
        """Yield messages about faults of these GPUs, with their log indexes."""
        for event, message in xid.reported(self.events(kernel_log)):
            device, evidence = event.fields["device"], saw(kernel_log, f"events[{event.line}].text", f"events[{event.line}].time")
            yield event.line, device, XidReport(device, self.listed.get(device), evidence, message, event.text)

    def recovery_actions(self) -> dict[str, RequestedAction]:
        """Return NVML's recovery actions by address; unknown numbers are ignored."""
        return {
            device: RequestedAction(
                device, gpu, saw(self.gpus, f"gpus[{place}].recovery_action"), RECOVERIES[gpu.recovery_action]
            )
            for place, gpu in enumerate(self.gpus.gpus if self.gpus is not None else ())
            for device in [gpu.pci_address]
            if device is not None and gpu.recovery_action in RECOVERIES
        }

    def recovery_messages(self, kernel_log: KernelLog) -> dict[str, tuple[int, RequestedAction]]:
        """Return the latest Xid 154 of each GPU, with its index in the log."""
        latest = {}
        for own in xid.requested_actions(self.events(kernel_log)).values():
            device, line = own.event.fields["device"], own.event.line
            evidence = saw(kernel_log, f"events[{line}].text")
            latest[device] = line, RequestedAction(device, self.listed.get(device), evidence, own.recovery)
        return latest

    def driver_messages(
        self, kernel_log: KernelLog, actions: dict[str, RequestedAction], messages: dict[str, tuple[int, RequestedAction]]
    ) -> tuple[DriverMessage, ...]:
        """Return the latest of each kind and GPU, without GPUs that need no action. Only one that names a GPU drains the node."""
        well = {device for device, request in actions.items() if request.action is Action.IGNORE}
        latest: dict[tuple[str, str | None], DriverMessage] = {}
        for place, text in enumerate(kernel_log.nvrm):
            address = re.search(_ADDRESS, message := re.sub(_PROCESS_NAME, "", text))
            device = f"{int(address[1] or '0', 16):04x}:{address[2]}:{address[3]}.0".lower() if address else None
            about, seen = {device} if device is not None else self.addresses, saw(kernel_log, f"nvrm[{place}]")
            if not about <= self.addresses or about <= well:
                continue
            for kind in WITHOUT_XID:
                if re.search(kind.pattern, message) and (device is not None or not kind.is_request):
                    # A GPU that still has the fault is reported by NVML, too.
                    action = Action(kind.action) if kind.is_request else Action.IGNORE
                    latest[kind.words, device] = DriverMessage(device, self.listed.get(device or ""), seen, action, kind.words)
        return (*latest.values(), *self._unknown(kernel_log, actions, messages))

    def _unknown(
        self, kernel_log: KernelLog, actions: dict[str, RequestedAction], messages: dict[str, tuple[int, RequestedAction]]
    ) -> tuple[DriverMessage, ...]:
        """Return the latest message of each GPU and unknown code: a code to look up, not a reason to drain the node."""
        latest = {
            (code, device): DriverMessage(
                device,
                self.listed.get(device),
                saw(kernel_log, f"events[{event.line}].text"),
                Action.IGNORE,
                f"Xid {code}, which gpucheck does not recognize",
                int(code),
            )
            for event in xid.unknown(self.events(kernel_log))
            for code, device in [(event.fields["code"], event.fields["device"])]
            if not cleared(device, event.line, actions, messages)
        }
        return tuple(latest.values())

    def switch_faults(self, kernel_log: KernelLog) -> tuple[tuple[SxidEvent, tuple[Evidence, ...]], ...]:
        """Return the fatal messages of the machine's NVSwitches, the latest of each code and switch."""
        switches = {switch.address for switch in (self.pci.nvswitches if self.pci is not None else ())}
        latest = {
            (event.code, event.device): (event, saw(kernel_log, f"sxids[{place}].text", f"sxids[{place}].time"))
            for place, event in enumerate(kernel_log.sxids)
            if event.fatal and event.device in switches
        }
        return tuple(latest.values())
