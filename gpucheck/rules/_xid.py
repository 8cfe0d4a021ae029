"""Xid messages of the kernel's log as rules judge them: only of GPUs that are here, each decoded, with what to do now."""

from collections.abc import Iterable
from typing import NamedTuple

from gpucheck.compat.xid import Xid, xid
from gpucheck.model import Evidence, Fix, saw
from gpucheck.probes.container import Container
from gpucheck.probes.gpus import Gpu, Gpus
from gpucheck.probes.kernel_log import KernelLog
from gpucheck.probes.log import Event
from gpucheck.probes.pci import Pci


class Reported(NamedTuple):
    """One Xid message that accuses a GPU of this machine."""

    known: Xid
    device: str  # "0000:3b:00.0"
    gpu: Gpu | None  # as NVML lists it; None: it does not
    text: str
    evidence: tuple[Evidence, ...]

    @property
    def label(self) -> str:
        """'GPU 3 at 0000:3b:00.0', or what else is known of it."""
        return f"GPU {self.gpu.index} at {self.device}" if self.gpu is not None else f"The GPU at {self.device}"

    @property
    def answers(self) -> bool:
        """Whether NVML can talk to the GPU now."""
        return self.gpu is not None and self.gpu.result is None and self.gpu.problem is None

    @property
    def words(self) -> str:
        """'the GPU has fallen off the bus (Xid 79)'."""
        return f"{self.known.meaning} (Xid {self.known.code})"


def reported(
    kernel_log: KernelLog | None, diagnosis: str, gpus: Gpus | None, pci: Pci | None, container: Container | None
) -> list[Reported]:
    """The messages that stand for a diagnosis, the latest of each code and GPU.

    What programs cause themselves (13, 31, 43, 45) stands for none. A container may see its host's log and PCI bus, so there
    only the GPUs that NVML lists count.
    """
    here = {gpu.pci_address: gpu for gpu in (gpus.gpus if gpus is not None else ()) if gpu.pci_address}
    bus = {gpu.address for gpu in pci.gpus} if pci is not None and not (container is not None and container.inside) else set()
    latest: dict[tuple[int, str], Reported] = {}
    for place, event in enumerate(kernel_log.events if kernel_log is not None else ()):
        known = xid(event.code)
        if kernel_log is None or known is None or known.diagnosis != diagnosis or event.device is None:
            continue
        if event.device in here or event.device in bus:
            evidence = saw(kernel_log, f"events[{place}].text", f"events[{place}].time")
            gpu = here.get(event.device)
            latest[event.code, event.device] = Reported(known, event.device, gpu, event.text, evidence)
    return list(latest.values())


def advice(known: Iterable[Xid]) -> tuple[Fix, ...]:
    """What each code asks for, and whether the machine should be drained; one fix per code, the gravest first."""
    return tuple(
        Fix(
            text=f"Xid {one.code} means: {one.meaning}. Do now: {one.action}. "
            + ("Drain this machine: no new jobs until that is done" if one.drain else "The machine need not be drained for it")
        )
        for one in sorted(set(known), key=lambda one: (not one.drain, one.code))
    )


def decoded(event: Event, diagnosis: str) -> Xid | None:
    """The Xid of a pasted log's line, if it stands for that diagnosis. NVLink 5 units also report what did no harm."""
    code = event.fields.get("code", "")
    known = xid(int(code)) if event.kind == "xid" and code.isdecimal() else None
    return known if known is not None and known.diagnosis == diagnosis and "Nonfatal" not in event.text else None


def cited(reports: Iterable[Reported]) -> tuple[Evidence, ...]:
    """The lines of the kernel's log."""
    return tuple(item for report in reports for item in report.evidence)


def affected(reports: Iterable[Reported]) -> tuple[str, ...]:
    """'GPU 3', for those that NVML lists."""
    return tuple(dict.fromkeys(f"GPU {report.gpu.index}" for report in reports if report.gpu is not None))


def last_words(kernel_log: KernelLog | None) -> tuple[Evidence, ...]:
    """The driver's last complaint without an Xid, where the log has one."""
    if kernel_log is None or not kernel_log.nvrm:
        return ()
    return saw(kernel_log, f"nvrm[{len(kernel_log.nvrm) - 1}]")
