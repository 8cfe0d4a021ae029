"""Training works, but is slower than it should be on this hardware."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="Low utilization",
    first_check="input pipeline",
    action="prefetch, parallelize, and profile",
    position=3,
)
