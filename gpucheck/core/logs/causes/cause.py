"""A cause found in a log, and the rows of the tables of simple causes.

A row has the events that identify a cause, the later success that cancels them, and a sentence. In a sentence

    {field}         is that field of the first event that has it; {text} is the event's line
    {one/other}     is the first of these fields that is present
    {field|words}   is the words if no event has the field
    {field*}        lists the values of all events
    [with {field}|without]  is the part before the bar if the field is present, else the part after it, or nothing
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from gpucheck.core.logs.causes.events import Events, Later, has_fields
from gpucheck.core.logs.events import Event
from gpucheck.core.logs.reading.lines import headless
from gpucheck.core.model import Action, Severity
from gpucheck.core.model.wording import listing, short


class Cause(NamedTuple):
    """A failure that a log reports."""

    summary: str
    events: Sequence[Event]  # the lines that show it, the most relevant first
    severity: Severity | None = None  # None: that of the action, or the rule's own
    affects: tuple[str, ...] = ()  # devices
    intended: bool = False  # nothing requests the missing GPU, so the machine may have none on purpose: only a warning
    repair_values: Mapping[str, str] = {}  # values that the repairs depend on and that no event has as a field
    action: Action | None = None  # what to do with the hardware; it determines the severity

    @property
    def own_severity(self) -> Severity | None:
        """Its severity; None: the rule's."""
        if self.action is not None:
            return self.action.severity
        return Severity.WARNING if self.intended else self.severity

    def weakened(self) -> "Cause":
        """Return the cause as a warning, because it did not end the program."""
        return self._replace(severity=Severity.WARNING, action=None)

    def values(self, names: Iterable[str]) -> dict[str, str]:
        """Return the lines' values: each field from the first event that has it, "text" of the first event, all in "lines"."""
        found = {"devices": ",".join(self.affects)}
        if self.events:
            found |= {"text": self.events[0].text, "lines": "\n".join(event.text for event in self.events)}
        for event in reversed(self.events):
            found |= event.fields
        found |= {"action": self.action.value} if self.action is not None else {}
        found |= self.repair_values
        return {name: found[name] for name in names if found.get(name)}


Judge = Callable[[Events], Cause | None]


class Match:
    """Events of a kind whose fields match: ``Match("cuda-error", code="700|716")``; "" matches a missing field."""

    def __init__(self, kind: str, text: str = "", **fields: str) -> None:
        self.kind, self._text, self._fields = kind, text, fields

    def __call__(self, event: Event) -> bool:
        """Whether the event matches. ``text`` is searched in its line; a field's pattern must match the whole field."""
        return event.kind == self.kind and re.search(self._text, event.text) is not None and has_fields(event, self._fields)


class Row:
    """A cause that a single line identifies.

    Args:
        code: the code of the rule whose page has the fix.
        summary: the sentence.
        matches: the events, of which one is enough.
        later: a later success that cancels the events.
        severity: its severity; None: the rule's.
        also_cite: a kind of event that is cited as well, and that has fields for the sentence.
        unless: a kind of event that rules out the cause.
        affects: the affected device of each event, in the syntax of a sentence: "[GPU {device}]".
        action: what to do with the hardware; it determines the severity.
    """

    def __init__(
        self,
        code: str,
        summary: str,
        *matches: Match,
        later: Later = Later.TRAINING,
        severity: Severity | None = None,
        also_cite: str | None = None,
        unless: str = "",
        affects: str = "",
        action: Action | None = None,
    ) -> None:
        self.code = code
        self._later, self._summary, self._matches, self._severity = later, summary, matches, severity
        self._also_cite, self._unless, self._affects, self._action = also_cite, unless, affects, action

    def __call__(self, events: Events) -> Cause | None:
        """Return the cause if the log has matching events."""
        cited = [event for event in events.without_later(self._later) if any(match(event) for match in self._matches)]
        if not cited or events.has(self._unless):
            return None
        cited.sort(key=lambda event: event.text.startswith(("raise ", "'")))  # a traceback shows the code before the error
        affected = dict.fromkeys(part for event in cited if (part := sentence(self._affects, [event])))
        cited += events.of(self._also_cite)[:1] if self._also_cite is not None else []
        return Cause(sentence(self._summary, cited), cited, self._severity, tuple(affected), action=self._action)


until_gpu_use = partial(Row, later=Later.GPU_USE)  # later training does not cancel it, because it may use the CPU
always = partial(Row, later=Later.NOTHING)


def refused(*results: int) -> tuple[Match, ...]:
    """Return matches for CUDA initialization and later calls that failed with one of these results."""
    codes = "|".join(map(str, results))
    return Match("cuinit-failed", code=codes), Match("cuda-error", code=codes)


_OPTIONAL = re.compile(r"\[([^\[\]|]*)(?:\|([^\[\]]*))?\]")
_FIELD = re.compile(r"\{([\w/]+)(\*?)(?:\|([^{}]*))?\}")


def sentence(template: str, events: Sequence[Event]) -> str:
    """Fill in a template with the events' fields. Raises KeyError for a field that no event has."""

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
    return headless(event.text) if name == "text" else event.fields.get(name, "")
