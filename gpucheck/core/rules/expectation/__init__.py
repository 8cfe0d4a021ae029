"""What the user wrote down about this machine (``--expect``) does not hold. Judged after everything else."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="The machine is not what was expected",
    first_check="what is different, and since when: gpucheck compare BASELINE",
    action="bring the machine back to what was expected, or write down what is right now",
    position=9,
)
