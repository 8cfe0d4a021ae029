"""Log lines of TensorFlow, CUDA, the driver, NCCL and Python as typed events: from our own child, or pasted by a user."""

import msgspec

from gpucheck.engine.plugin import probe
from gpucheck.host import Child, Host
from gpucheck.model import Fact, Level
from gpucheck.probes._framework import child, elsewhere, trainer

PLACE = "place"  # the field that says where an event's line was printed: "container", "host", "host NAME"; absent: not said
CONTAINER, HOST = "container", "host"


class Event(Fact, frozen=True, kw_only=True):
    """One line, understood."""

    kind: str  # what happened: "library-missing", "cuinit-failed", "gpu-libraries-missing", "out-of-memory", ...
    line: int  # line number in its log, from 1
    text: str  # the line, trimmed
    fields: dict[str, str] = msgspec.field(default_factory=dict)  # what the line names: soname, code, device, bytes, ...


def apart(one: Event, other: Event) -> bool:
    """Whether two events are known to come from different places: a container and a host, or two hosts."""
    here, there = one.fields.get(PLACE, ""), other.fields.get(PLACE, "")
    if not here or not there or here == there:
        return False
    return here.split()[0] != there.split()[0] or (" " in here and " " in there)


class Log(Fact, frozen=True, kw_only=True):
    """The events of one log, in order."""

    source: str  # "gpucheck's own child", a file's name, "standard input"
    events: tuple[Event, ...] = ()
    lines: int = 0
    # Of kind "suspect", with the field "looks" ("exception", "fatal", "error", "failure"): the most telling first; at most 8.
    suspects: tuple[Event, ...] = ()
    harmless: tuple[Event, ...] = ()  # of kind "harmless", with the field "reason": distinct lines that look bad; at most 40
    harmless_lines: int = 0  # how many such lines there are, repetitions included


@probe(level=Level.DEFAULT)
def read(host: Host) -> Log:
    """Parse what the children that import a framework wrote to their standard output and standard error."""
    from gpucheck.logs.reading import parse  # the parser declares its result with this module's types

    children = [trainer(host)]
    if not (elsewhere(host) and host.request.backend) and (first := child(host)) is not children[0]:
        # One that failed to connect to a TPU tells the error itself, and its log is full of it; the other one's has the rest.
        children = [first, *children] if elsewhere(host) or _died(first) else children
    lines: list[str] = []
    for framework in children:
        ending = framework.end()
        text = framework.log()
        if not text and ending.how.startswith("not started"):
            raise RuntimeError(f"no log: the framework child was {ending.how}")
        lines += text.rstrip("\n").split("\n") if text else ()
    return parse(lines, "gpucheck's own child")


def _died(child: Child) -> bool:
    ending = child.end()
    return not ending.ok and ending.how != "timed out"
