"""Training works, but its results can't be trusted."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="Accuracy changes",
    first_check="batch size and precision",
    action="retune and validate numerics",
    position=5,
)
