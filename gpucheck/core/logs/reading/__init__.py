"""One reader for every log: TensorFlow, XLA, CUDA, NVML, the kernel, NCCL, Keras, Python, pip, containers and schedulers.

``batches`` takes a stream apart, ``lines`` strips prefixes, ``patterns`` knows what lines mean, ``search`` finds the lines that
are worth a look, and ``reader`` keeps a bounded number of events. What follows from an event is not judged here.
"""

from collections.abc import Callable, Iterable

from gpucheck.core.logs.reading.allowance import Allowance
from gpucheck.core.logs.reading.batches import batches
from gpucheck.core.logs.reading.reader import Reader
from gpucheck.core.model.progress import Progress
from gpucheck.core.probes.log import Log


def parse(
    lines: Iterable[str],
    source: str,
    clock: Callable[[], float] = lambda: 0.0,
    progress: Progress[Log] | None = None,
) -> Log:
    """The events of a log, in order.

    Args:
        lines: lines of text, with or without their line ends; anything may stand in them.
        source: what the log is called in a report: a file's name, "standard input".
        clock: processor time of this thread, in seconds: with it, a log whose lines all differ is read in parts (``allowance``).
        progress: its snapshot becomes the log as far as it has been read.

    Returns:
        At most ``reader.KEPT`` + 1 events of each kind: the first ones, of those about the same thing fewer, and the last.
        Beside them the lines that look most like failures, and those that look bad and are harmless.
    """
    allowance = Allowance(clock)
    reader = Reader(allowance)
    if progress is not None:
        progress.snapshot = lambda: reader.known(source)
    for batch in batches(lines, allowance):
        reader.read(batch)
    return reader.log(source)
