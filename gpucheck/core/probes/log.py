"""Log lines of TensorFlow, CUDA, the driver, NCCL and Python as typed events, from gpucheck's own children."""

from gpucheck.core.host import Child, Host
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes._frameworks import other_backend, tensorflow_child, training_child


@probe(level=Level.DEFAULT)
def read(host: Host) -> Log:
    """Parse the standard output and standard error of the children that import a framework."""
    from gpucheck.core.logs.reading import parse  # --quick does not need it, and compiling the patterns takes time

    children = [training_child(host)]
    other = other_backend(host)
    if not (other and host.request.backend) and (first := tensorflow_child(host)) is not children[0]:
        # A child that failed to connect to a TPU reports that error itself and repeats it in its log; the other has the rest.
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
