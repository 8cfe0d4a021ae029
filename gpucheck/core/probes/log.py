"""Log lines of TensorFlow, CUDA, the driver, NCCL and Python as typed events: from our own child, or pasted by a user."""

from gpucheck.core.engine.plugin import probe
from gpucheck.core.host import Child, Host
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Level
from gpucheck.core.processes.frameworks import other_backend, tensorflow_child, training_child


@probe(level=Level.DEFAULT)
def read(host: Host) -> Log:
    """Parse what the children that import a framework wrote to their standard output and standard error."""
    from gpucheck.core.logs.reading import parse  # --quick, which reads no log, would pay for all patterns

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
