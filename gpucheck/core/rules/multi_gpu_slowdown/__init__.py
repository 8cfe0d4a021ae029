"""Several GPUs train more slowly than they should, or fail to train together."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="Multi-GPU slowdown",
    first_check="per-replica workload",
    action="increase useful work per device",
    position=4,
)
