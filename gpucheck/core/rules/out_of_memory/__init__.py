"""Device, host or shared memory, or a limit of the operating system, ran out or is about to."""

from gpucheck.core.engine.plugin import Row

ROW = Row(
    problem="Out of memory",
    first_check="batch and input sizes",
    action="reduce memory use or choose more GPU memory",
    position=2,
)
