"""A training job did not finish, and no rule of another row explains it."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="Training fails",
    first_check="the stage the training job reached, and its last log lines",
    action="follow the message of the failing stage",
    position=8,
)
