"""Find the Xid messages of the NVIDIA driver in a log that name a given fault."""

from collections.abc import Iterable

from gpucheck.core.compat.xid import Xid, xid
from gpucheck.core.logs.events import Event, Kind


def reported(events: Iterable[Event], fault: str) -> list[tuple[Event, Xid]]:
    """Return the Xid messages of a log that name a fault: see ``Xid.fault``.

    Skipped: "Nonfatal" reports of NVLink 5 units, and lines that only refer to an earlier Xid.
    """
    messages = [event for event in events if event.kind == Kind.XID]
    mild = {event.fields.get("code") for event in messages if "Nonfatal" in event.text}
    reports = [event for event in messages if "revious Xid" not in event.text or event.fields.get("code") not in mild]
    decoded = ((event, _decoded(event)) for event in reports if "Nonfatal" not in event.text)
    return [(event, message) for event, message in decoded if message is not None and message.fault == fault]


def _decoded(event: Event) -> Xid | None:
    code = event.fields.get("code", "")
    return xid(int(code)) if code.isdecimal() else None
