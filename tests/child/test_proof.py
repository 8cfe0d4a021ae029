"""What a run's figures say of how it computed."""

import math
from types import SimpleNamespace

import pytest

from gpucheck.child.smoke import proof

NETWORK = SimpleNamespace(layers=[SimpleNamespace(compute_dtype="float32")], optimizer=SimpleNamespace())


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        (["GPU:0", "GPU:1"], True),
        (["/job:worker/replica:0/task:0/device:GPU:0"], True),
        (["CPU:0"], None),
        (["/job:worker/replica:0/task:0/device:CPU:0"], None),
        (["TPU:0"], None),
        ([], None),
    ],
)
def test_tf32_is_of_runs_on_gpus(devices, expected):
    assert proof.numerics(NETWORK, True, devices) == {"output_dtype": "float32", "loss_scale": None, "tf32": expected}


def weights(before, *replicas):
    """What is told of one variable, held by one replica or by several, that began with these numbers."""
    numpy = pytest.importorskip("numpy")
    held = [SimpleNamespace(numpy=lambda after=after: numpy.array(after)) for after in replicas]
    weight = SimpleNamespace(numpy=held[0].numpy, values=tuple(held)) if len(held) > 1 else held[0]
    return proof.weights([weight], [numpy.array(before)])


@pytest.mark.parametrize(
    ("after", "changed", "finite", "equal"),
    [
        ([[2.0, 3.0]], True, True, None),
        ([[1.0, 1.0]], False, True, None),
        ([[math.nan, math.nan]], True, False, None),
        ([[1.0, math.inf]], True, False, None),
        ([[2.0, 3.0], [2.0, 3.0]], True, True, True),
        ([[2.0, math.nan], [2.0, math.nan]], True, False, True),
        ([[2.0, 3.0], [2.0, math.nan]], True, False, False),
    ],
)
def test_weights_that_are_not_finite_are_told_from_those_that_never_changed(after, changed, finite, equal):
    told = weights([1.0, 1.0], *after)
    assert told == {"gradients_reach_weights": changed, "weights_finite": finite, "replicas_equal": equal}


SECONDS = [1.0] * 6


def test_the_reason_of_weights_that_are_not_finite_says_so():
    account = {**proof.measured(SECONDS, [2.5, 2.4, 2.2, 2.0, 1.8, 1.6], 16, [0.9] * 6), **weights([1.0], [math.nan])}
    assert proof.problem(account) == "some weights are not finite, although the loss is"


def test_the_reason_of_a_loss_that_did_not_fall_quotes_what_was_compared():
    """The last step's loss is below the first one's, and yet nothing was learnt."""
    account = {**proof.measured(SECONDS, [2.52, 2.4, 2.5, 2.5, 2.51, 2.45], 16, []), **weights([1.0], [1.0])}
    assert account["loss"] == {"first": 2.52, "last": 2.45, "first_third": 2.46, "last_third": 2.48}
    assert account["loss_fell"] is False
    assert proof.problem(account) == (
        "the loss did not fall: its mean was 2.46 in the first third of the steps, 2.48 in the last"
    )


def test_thirds_of_a_loss_that_is_not_finite_are_unknown():
    account = proof.measured(SECONDS, [2.5, math.inf, -math.inf, math.nan, math.nan, math.nan], 16, [])
    assert account["loss"] == {"first": 2.5, "last": None, "first_third": None, "last_third": None}
    assert account["loss_fell"] is None
