"""How experiments word what they measured: figures that stand beside a limit, and what a conclusion rests on."""

import pytest

from gpucheck.experiments import batch_normalization, global_batch
from gpucheck.experiments._measure import percent


@pytest.mark.parametrize(
    ("difference", "limit", "words"),
    [
        (0.0101, 0.01, "1.01 %"),
        (0.0500001, 0.05, "5.00001 %"),
        (0.0824, 0.05, "8.2 %"),
        (0.32, 0.05, "32 %"),
        (1.523, 0.01, "152.3 %"),
        (0.001768, 1e-4, "0.2 %"),
        (0.000101, 1e-4, "0.0101 %"),
        (float("nan"), 0.01, "nan %"),
    ],
)
def test_a_difference_is_above_its_limit_as_written(difference, limit, words):
    assert percent(difference, limit) == words


def test_a_variance_is_told_relative_to_itself():
    local = batch_normalization.Distance(0.13, "mean")
    assert batch_normalization.problem(batch_normalization.Distance(0.02, "variance"), local, local) == (
        "with synchronized=True the variance of batch normalization is 2 % from that of the global batch (without it, the mean"
        " is 0.13 standard deviations from it)"
    )
    assert batch_normalization.problem(batch_normalization.Distance(0.01, "mean"), local, local).startswith(
        "with synchronized=True the mean of batch normalization is 0.01 standard deviations from that of the global batch"
    )


def test_a_replica_alone_is_told_likewise():
    sound, off = batch_normalization.Distance(1e-4, "mean"), batch_normalization.Distance(0.02, "variance")
    assert (
        batch_normalization.problem(sound, off, off)
        == "a replica's variance of batch normalization is 2 % from that of its own batch"
    )
    assert batch_normalization.problem(sound, off, sound) is None


def test_a_loss_that_is_off_by_the_number_of_replicas_is_not_averaged():
    for several in (1.254398, 5.0175):
        assert global_batch.problem(several, 2.508795, 2, 32).endswith(" on one device: it is not averaged over the global batch")
    assert "first loss of 10.02 on 4 replicas" in global_batch.problem(10.02, 2.508795, 4, 128)


def test_a_loss_that_is_off_otherwise_is_told_as_measured():
    """Synchronized statistics that are wrong do that, too."""
    assert global_batch.problem(2.504359, 2.508795, 2, 32) == (
        "the same 32 samples give a first loss of 2.50436 on 2 replicas and of 2.5088 on one device, 0.2 % apart; up to 0.01 % is"
        " rounding"
    )
    assert global_batch.problem(2.508796, 2.508795, 2, 32) is None
    assert "nan" in global_batch.problem(float("nan"), 2.508795, 2, 32)
