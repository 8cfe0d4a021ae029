"""Xid messages of the NVIDIA driver in a log: those that report a given fault, and the action that the driver requests."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from gpucheck.core.compat.xid import RECOVERIES, RECOVERY_CHANGED, Recovery, Xid, is_nonfatal, recovery_of, xid
from gpucheck.core.logs.events import Event
from gpucheck.core.model import Action


class LoggedRequest(msgspec.Struct, frozen=True):
    """The recovery action that the driver requests in an Xid 154."""

    recovery: Recovery
    event: Event

    @property
    def action(self) -> Action:
        """The action."""
        return Action(self.recovery.action)


def reported(events: Iterable[Event], fault: str | None = None) -> list[tuple[Event, Xid]]:
    """Return the Xid messages of a log that report this fault, or any: see ``Xid.fault``.

    Skipped: "Nonfatal" reports of NVLinks, which recover by themselves, and lines that only refer to an earlier Xid.
    """
    messages = [event for event in events if event.kind == "xid"]
    nonfatal = {event.fields.get("code") for event in messages if is_nonfatal(event.text)}
    reports = [event for event in messages if not _is_reference(event) or event.fields.get("code") not in nonfatal]
    decoded = [(event, message) for event in reports if (message := _decoded(event)) is not None and message.fault is not None]
    return [
        (event, message)
        for event, message in decoded
        if fault in (None, message.fault) and not (message.fault == "nvlink" and is_nonfatal(event.text))
    ]


def codes(reports: Iterable[tuple[Event, Xid]]) -> dict[str, str]:
    """Return the codes of messages for ``Cause.repair_values``, because the fix depends on each of them."""
    return {"xids": ",".join(str(message.code) for _, message in reports)}


def unknown(events: Iterable[Event]) -> list[Event]:
    """Return the driver's own Xid lines whose code is not in the table; a line without a GPU may be another program's."""
    return [event for event in events if event.kind == "xid" and address(event) and _decoded(event) is None]


def requested_actions(events: Iterable[Event]) -> dict[str | None, LoggedRequest]:
    """Return the driver's last requests, by the GPU's address."""
    return {
        address(event): LoggedRequest(RECOVERIES[number], event)
        for event in events
        if event.kind == "xid" and event.fields.get("code") == str(RECOVERY_CHANGED)
        for number in [recovery_of(event.text)]
        if number in RECOVERIES
    }


def required_action(events: Sequence[Event], reports: Iterable[tuple[Event, Xid]]) -> tuple[Action, list[Event]]:
    """Return the strongest action for these messages, and the driver's requests among the lines.

    A request of the driver overrides the message: a later one always, an earlier one only if it requests an action.
    There must be at least one message.
    """
    words, actions, lines = requested_actions(events), [], []
    for event, message in reports:
        own = words.get(address(event))
        if own is not None and (own.action is not Action.IGNORE or own.event.line > event.line):
            actions.append(own.action)
            lines.append(own.event)
        else:
            actions.append(Action(message.action))
    return Action.strongest(actions), lines


def address(event: Event) -> str | None:
    """Return the GPU in a line: '0000:3b:00.0' or 'GPU-<uuid>'."""
    return re.sub(r"^(?:PCI:|GPU ?(?=[0-9A-Fa-f]{4,8}:))", "", event.fields.get("device", "")) or None


def _is_reference(event: Event) -> bool:
    """Whether the code is that of an earlier message: "previous Xid 145". The name of a process may have these words, too."""
    return event.fields.get("message", "").lower().startswith("previous xid")


def _decoded(event: Event) -> Xid | None:
    code = event.fields.get("code", "")
    return xid(int(code)) if code.isdecimal() else None
