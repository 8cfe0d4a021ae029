"""The wording of experiments: figures next to a limit, and the basis of a conclusion."""

from gpucheck.core.training.experiments import batch_normalization


def test_variance_is_reported_in_percent():
    local = batch_normalization.Distance(0.13, "mean")
    assert batch_normalization.problem(batch_normalization.Distance(0.02, "variance"), local, local) == (
        "with synchronized=True the variance of batch normalization is 2 % from that of the global batch (without it, the mean"
        " is 0.13 standard deviations from it)"
    )
    assert batch_normalization.problem(batch_normalization.Distance(0.01, "mean"), local, local).startswith(
        "with synchronized=True the mean of batch normalization is 0.01 standard deviations from that of the global batch"
    )


def test_difference_within_a_single_replica_is_reported():
    close, off = batch_normalization.Distance(1e-4, "mean"), batch_normalization.Distance(0.02, "variance")
    assert (
        batch_normalization.problem(close, off, off)
        == "a replica's variance of batch normalization is 2 % from that of its own batch"
    )
    assert batch_normalization.problem(close, off, close) is None
