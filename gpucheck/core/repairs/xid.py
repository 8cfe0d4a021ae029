"""What to do about Xid messages of the NVIDIA driver."""

from collections.abc import Iterable

from gpucheck.core.compat.xid import Xid, xid
from gpucheck.core.logs.events import Event
from gpucheck.core.model import Fix


def advice(xids: Iterable[Xid]) -> tuple[Fix, ...]:
    """What each code asks for, and whether the machine should be drained; one fix per code, the gravest first."""
    return tuple(
        Fix(
            text=f"Xid {message.code} means: {message.meaning}. Do now: {message.action}. "
            + (
                "Drain this machine: no new jobs until that is done"
                if message.drain
                else "The machine need not be drained for it"
            )
        )
        for message in sorted(set(xids), key=lambda message: (not message.drain, message.code))
    )


def xid_of(event: Event, fault: str) -> Xid | None:
    """The Xid of a log's line, if it stands for that diagnosis. NVLink 5 units also report what did no harm."""
    code = event.fields.get("code", "")
    xid_message = xid(int(code)) if event.kind == "xid" and code.isdecimal() else None
    return xid_message if xid_message is not None and xid_message.fault == fault and "Nonfatal" not in event.text else None
