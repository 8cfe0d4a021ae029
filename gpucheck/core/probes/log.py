"""Log lines of TensorFlow, CUDA, the driver, NCCL and Python as typed events: from our own child, or pasted by a user."""

from gpucheck.core.engine.plugin import probe
from gpucheck.core.host import Child, Host
from gpucheck.core.logs.events import Event
from gpucheck.core.model import Fact, Level
from gpucheck.core.processes.frameworks import other_backend, tensorflow_child, training_child


class Log(Fact, frozen=True, kw_only=True):
    """The events of one log, in order."""

    source: str  # "gpucheck's own child", a file's name, "standard input"
    events: tuple[Event, ...] = ()
    lines: int = 0
    cut: str | None = None  # why only its beginning was read: "it is larger than 4096 MiB"; None: it was read to its end
    skimmed: int = 0  # lines that were passed over, because too many differ for each to be looked at
    # Of kind "suspect", with the field "looks" ("exception", "fatal", "error", "failure"): the most telling first; at most 8.
    suspects: tuple[Event, ...] = ()
    harmless: tuple[Event, ...] = ()  # of kind "harmless", with the field "reason": distinct lines that look bad; at most 40
    harmless_lines: int = 0  # how many such lines there are, repetitions included


@probe(level=Level.DEFAULT)
def read(host: Host) -> Log:
    """Parse what the children that import a framework wrote to their standard output and standard error."""
    from gpucheck.core.logs.reading import parse  # the parser declares its result with this module's types

    children = [training_child(host)]
    other = other_backend(host)
    if not (other and host.request.backend) and (first := tensorflow_child(host)) is not children[0]:
        # One that failed to connect to a TPU reports the error itself, and its log is full of it; the other one's has the rest.
        children = [first, *children] if other or _died(first) else children
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
