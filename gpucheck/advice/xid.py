"""What to do about Xid messages of the NVIDIA driver."""

from collections.abc import Iterable

from gpucheck.compat.xid import Xid, xid
from gpucheck.logs.events import Event
from gpucheck.model import Fix


def advice(xids: Iterable[Xid]) -> tuple[Fix, ...]:
    """What each code asks for, and whether the machine should be drained; one fix per code, the gravest first."""
    return tuple(
        Fix(
            text=f"Xid {known.code} means: {known.meaning}. Do now: {known.action}. "
            + ("Drain this machine: no new jobs until that is done" if known.drain else "The machine need not be drained for it")
        )
        for known in sorted(set(xids), key=lambda known: (not known.drain, known.code))
    )


def xid_of(event: Event, fault: str) -> Xid | None:
    """The Xid of a log's line, if it stands for that diagnosis. NVLink 5 units also report what did no harm."""
    code = event.fields.get("code", "")
    known = xid(int(code)) if event.kind == "xid" and code.isdecimal() else None
    return known if known is not None and known.fault == fault and "Nonfatal" not in event.text else None
