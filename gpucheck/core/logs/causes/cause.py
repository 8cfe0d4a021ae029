"""A cause that a log names, and the rows of the table of simple causes.

A row says which events name a cause, what happens later where they mean nothing, and the sentence. In a sentence

    {field}         is that field of the first event that has it; {text} is the event's line
    {one/other}     is the first of these fields that is there
    {field|words}   has words for events without it
    {field*}        lists the values of all events
    [with {field}|without]  is the part before the bar if the field is there, else the part behind it, or nothing
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpucheck.core.compat.xid import Xid
from gpucheck.core.logs.causes.events import Events, Later, has_fields
from gpucheck.core.logs.events import Event, Kind
from gpucheck.core.model import Severity
from gpucheck.core.repairs.wording import listing, short


class Cause(NamedTuple):
    """What a log says went wrong."""

    summary: str
    events: Sequence[Event]  # the lines it rests on, the most telling first
    severity: Severity | None = None  # None: the rule's own
    affects: tuple[str, ...] = ()  # devices
    xids: tuple[Xid, ...] = ()  # messages of the kernel, each of which asks for something of its own


Judge = Callable[[Events], Cause | None]


class Match:
    """Events of a kind whose fields match: ``Match(Kind.CUDA_ERROR, code="700|716")``; "" matches a field that is not there."""

    def __init__(self, kind: Kind, text: str = "", **fields: str) -> None:
        self.kind, self._text, self._fields = kind, text, fields

    def __call__(self, event: Event) -> bool:
        """Whether the event is one of these. ``text`` is searched for in its line, a field's pattern is for all of it."""
        return event.kind == self.kind and re.search(self._text, event.text) is not None and has_fields(event, self._fields)


class Row:
    """A cause that single lines name.

    Args:
        code: of the rule whose page says what to do.
        summary: the sentence.
        matches: the events, any of them.
        later: what may follow the events that shows them to mean nothing.
        severity: None: the rule's own.
        beside: a kind of events that are cited with them, and have fields for the sentence.
        affects: what of each event is affected, written as a sentence is: "[GPU {device}]".
    """

    def __init__(
        self,
        code: str,
        summary: str,
        *matches: Match,
        later: Later = Later.TRAINING,
        severity: Severity | None = None,
        beside: Kind | None = None,
        affects: str = "",
    ) -> None:
        self.code = code
        self._later, self._summary, self._matches, self._severity = later, summary, matches, severity
        self._beside, self._affects = beside, affects

    def __call__(self, events: Events) -> Cause | None:
        """The cause, if the log has such events."""
        named = [event for event in events.not_withdrawn(self._later) if any(match(event) for match in self._matches)]
        if not named:
            return None
        affected = dict.fromkeys(part for event in named if (part := sentence(self._affects, [event])))
        named += events.of(self._beside)[:1] if self._beside is not None else []
        return Cause(sentence(self._summary, named), named, self._severity, tuple(affected))


def refused(codes: str) -> tuple[Match, ...]:
    """CUDA's refusals to start, and calls that failed later, with one of these results ("34|46")."""
    return Match(Kind.CUINIT_FAILED, code=codes), Match(Kind.CUDA_ERROR, code=codes)


_OPTIONAL = re.compile(r"\[([^\[\]|]*)(?:\|([^\[\]]*))?\]")
_FIELD = re.compile(r"\{([\w/]+)(\*?)(?:\|([^{}]*))?\}")


def sentence(template: str, events: Sequence[Event]) -> str:
    """The template with the events' fields. Raises KeyError for a field that no event has."""

    def value(match: re.Match[str]) -> str:
        names, every, words = match.groups()
        values = [value for name in names.split("/") for event in events if (value := _field(event, name))]
        if not values and words is None:
            raise KeyError(names)
        return listing(list(dict.fromkeys(values))) if every and values else short(values[0]) if values else words

    def optional(match: re.Match[str]) -> str:
        try:
            return _FIELD.sub(value, match[1])
        except KeyError:
            return match[2] or ""

    return _FIELD.sub(value, _OPTIONAL.sub(optional, template))


def _field(event: Event, name: str) -> str:
    return event.text if name == "text" else event.fields.get(name, "")
