"""Several workers fail to train together."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="Multi-worker failure",
    first_check="TF_CONFIG and the network between the workers",
    action="give every worker the same versions and a consistent TF_CONFIG",
    position=7,
)
