"""Log lines of TensorFlow, CUDA, the driver, NCCL and Python as typed events: from our own child, or pasted by a user."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class Event(Fact, frozen=True, kw_only=True):
    """One line, understood."""

    kind: str  # what happened: "library-missing", "cuinit-failed", "gpu-libraries-missing", "out-of-memory", ...
    line: int  # line number in its log, from 1
    text: str  # the line, trimmed
    fields: dict[str, str] = {}  # what the line names: soname, code, device, bytes, ...


class Log(Fact, frozen=True, kw_only=True):
    """The events of one log, in order."""

    source: str  # "gpucheck's own child", a file's name, "standard input"
    events: tuple[Event, ...] = ()
    lines: int = 0


@probe(level=Level.DEFAULT)
def read(host: Host) -> Log:
    """Parse what the framework child wrote to its standard error."""
    raise NotImplementedError
