"""The machine does not meet the user's expectations (``--expect``). Checked after everything else."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="The machine is not what was expected",
    first_check="what is different, and since when: gpucheck compare BASELINE",
    action="restore the expected state, or update the expectations",
    position=9,
)
