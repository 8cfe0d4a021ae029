"""Several GPUs train slower than they should, or not together."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="Multi-GPU slowdown",
    first_check="per-replica workload",
    action="increase useful work per device",
    position=4,
)
