"""A TPU is here, or should be, and TensorFlow can't use it."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="TPU failure",
    first_check="backend and generation",
    action="use a compatible runtime",
    position=6,
)
