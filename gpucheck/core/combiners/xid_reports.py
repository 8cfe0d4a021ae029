"""Xid messages of the kernel's log: only of GPUs that are here, each decoded."""

from collections.abc import Iterable

import msgspec

from gpucheck.core.compat.xid import Xid, xid
from gpucheck.core.logs.log import Log
from gpucheck.core.logs.xid import reported
from gpucheck.core.model import Evidence, Fact, Fix, saw
from gpucheck.core.model.plugin import combiner
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.kernel_log import KernelLog
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.fixes import for_xids


class XidReport(msgspec.Struct, frozen=True):
    """One Xid message that accuses a GPU of this machine."""

    xid: Xid
    device: str | None  # "0000:3b:00.0"; None: a log does not say
    gpu: Gpu | None  # as NVML lists it; None: it does not
    text: str
    evidence: tuple[Evidence, ...]

    @property
    def label(self) -> str:
        """'GPU 3 at 0000:3b:00.0', or what else is known of it."""
        if self.gpu is not None:
            return f"{self.gpu.label} at {self.device}"
        return f"The GPU at {self.device}" if self.device else "A GPU of this machine"

    @property
    def answers(self) -> bool:
        """Whether NVML can talk to the GPU now."""
        return self.gpu is not None and self.gpu.result is None and self.gpu.problem is None

    @property
    def meaning(self) -> str:
        """'the GPU has fallen off the bus (Xid 79)'."""
        return self.xid.title


class XidReports(Fact, frozen=True, kw_only=True):
    """The messages that tell of a fault of the machine, the latest of each code and GPU; and the GPUs themselves."""

    gpus: Gpus | None
    pci: Pci | None
    log: Log | None
    reports: tuple[XidReport, ...]
    last_message: tuple[Evidence, ...]  # the driver's last complaint without an Xid, where the log has one

    def logged(self, fault: str) -> list[XidReport]:
        """Those of the run's own log."""
        events = self.log.events if self.log is not None else ()
        return [
            XidReport(message, event.fields.get("device"), None, event.text, saw(self.log, f"events[{events.index(event)}].text"))
            for event, message in reported(events, fault)
            if self.log is not None
        ]

    def of(self, fault: str) -> list[XidReport]:
        """Those that tell of a fault: see ``Xid.fault``."""
        return [report for report in self.reports if report.xid.fault == fault]


def cited(reports: Iterable[XidReport]) -> tuple[Evidence, ...]:
    """The lines of the kernel's log."""
    return tuple(item for report in reports for item in report.evidence)


def affected(reports: Iterable[XidReport]) -> tuple[str, ...]:
    """'GPU 3', for those that NVML lists."""
    return tuple(dict.fromkeys(report.gpu.label for report in reports if report.gpu is not None))


def fixes(reports: Iterable[XidReport]) -> tuple[Fix, ...]:
    """What the codes ask for."""
    return for_xids(report.xid for report in reports)


@combiner
def combine(
    kernel_log: KernelLog | None, gpus: Gpus | None, pci: Pci | None, container: Container | None, log: Log | None
) -> XidReports:
    """A container may see its host's log and PCI bus, so there only the GPUs that NVML lists count.

    What programs cause themselves (13, 31, 43, 45) is no fault of the machine.
    """
    if kernel_log is None:
        return XidReports(gpus=gpus, pci=pci, log=log, reports=(), last_message=())
    listed = {gpu.pci_address: gpu for gpu in (gpus.gpus if gpus is not None else ()) if gpu.pci_address}
    inside = container is not None and container.inside
    here = {*listed, *(gpu.address for gpu in (pci.gpus if pci is not None and not inside else ()))}
    latest: dict[tuple[int, str], XidReport] = {}
    for place, event in enumerate(kernel_log.events):
        message = xid(event.code)
        if message is not None and message.fault is not None and event.device is not None and event.device in here:
            evidence = saw(kernel_log, f"events[{place}].text", f"events[{place}].time")
            report = XidReport(message, event.device, listed.get(event.device), event.text, evidence)
            latest[event.code, event.device] = report
    last = saw(kernel_log, f"nvrm[{len(kernel_log.nvrm) - 1}]") if kernel_log.nvrm else ()
    return XidReports(gpus=gpus, pci=pci, log=log, reports=tuple(latest.values()), last_message=last)
