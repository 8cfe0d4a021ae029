"""GPU, main or shared memory, or an operating system limit, is used up or too low."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="Out of memory",
    first_check="batch and input sizes",
    action="reduce memory use or choose more GPU memory",
    position=2,
)
