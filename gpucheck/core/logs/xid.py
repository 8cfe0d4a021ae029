"""The Xid messages of the NVIDIA driver that name a fault, out of all that a log holds."""

from collections.abc import Iterable

from gpucheck.core.compat.xid import Xid, xid
from gpucheck.core.logs.events import Event, Kind


def reported(events: Iterable[Event], fault: str) -> list[tuple[Event, Xid]]:
    """The Xid messages of a log that name a fault: see ``Xid.fault``.

    NVLink 5 units also report what did no harm ("Nonfatal"), and a line that only names an earlier Xid says no more than it.
    """
    messages = [event for event in events if event.kind == Kind.XID]
    mild = {event.fields.get("code") for event in messages if "Nonfatal" in event.text}
    reports = [event for event in messages if "revious Xid" not in event.text or event.fields.get("code") not in mild]
    decoded = ((event, _decoded(event)) for event in reports if "Nonfatal" not in event.text)
    return [(event, message) for event, message in decoded if message is not None and message.fault == fault]


def _decoded(event: Event) -> Xid | None:
    code = event.fields.get("code", "")
    return xid(int(code)) if code.isdecimal() else None
