"""A TPU is present or expected, but TensorFlow can't use it."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="TPU failure",
    first_check="backend and generation",
    action="use a compatible runtime",
    position=6,
)
