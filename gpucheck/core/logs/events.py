"""Events that are parsed from the lines of a log."""

import msgspec

from gpucheck.core.model import Fact

PLACE = "place"  # field with the place that printed the line: "container", "host", "host NAME"; absent: unknown
CONTAINER, HOST = "container", "host"


class Event(Fact, frozen=True, kw_only=True):
    """One parsed line."""

    kind: str  # the title of its pattern in ``reading/patterns``: "driver-mismatch"; a newer version's report may have others
    line: int  # line number in its log, from 1
    text: str  # the line, trimmed
    fields: dict[str, str] = msgspec.field(default_factory=dict)  # values in the line: soname, code, device, bytes, ...


def of_host(event: Event) -> bool:
    """Whether a failed allocation was of host memory."""
    return event.kind == "host-out-of-memory" or event.fields.get("allocator") == "cpu"


def in_different_places(first: Event, second: Event) -> bool:
    """Whether two events definitely come from different places: a container and a host, or two hosts."""
    here, there = first.fields.get(PLACE, ""), second.fields.get(PLACE, "")
    if not here or not there or here == there:
        return False
    return here.split()[0] != there.split()[0] or (" " in here and " " in there)
