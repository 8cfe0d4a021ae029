"""Verify a run from its figures."""

import math
from types import SimpleNamespace

import pytest
from case_files import table

from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.messages.training import Job, Loss
from gpucheck.core.training.smoke import proof

NETWORK = SimpleNamespace(layers=[SimpleNamespace(compute_dtype="float32")], optimizer=SimpleNamespace())


@table
def test_tf32_is_noted_only_for_gpus(devices, expected):
    made = result()
    proof.note_numerics(made, NETWORK, True, devices)
    assert (made.output_dtype, made.loss_scale, made.tf32) == ("float32", None, expected)


def result(losses=(2.5, 2.4, 2.2, 2.0, 1.8, 1.6), accuracies=(0.9,) * 6):
    made = replace(Job("one_device", ("CPU:0",)).planned_run, global_batch_size=16)
    proof.note_steps(made, [1.0] * 6, proof.StepMeans(losses, accuracies))
    return made


def with_weights(made, before, *replicas):
    """Add one variable with these initial values, held by one or more replicas."""
    numpy = pytest.importorskip("numpy")
    held = [SimpleNamespace(numpy=lambda after=after: numpy.array(after)) for after in replicas]
    weight = SimpleNamespace(numpy=held[0].numpy, values=tuple(held)) if len(held) > 1 else held[0]
    proof.note_weights(made, [weight], [numpy.array(before)])
    return made


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
def test_non_finite_weights_differ_from_unchanged_ones(after, changed, finite, equal):
    made = with_weights(result(), [1.0, 1.0], *after)
    assert (made.gradients_reach_weights, made.weights_finite, made.replicas_equal) == (changed, finite, equal)


FLAT = (2.52, 2.4, 2.5, 2.5, 2.51, 2.45)  # the last loss is below the first one although nothing was learned


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (result(), None),
        (result((2.5, math.inf, -math.inf, math.nan, math.nan, math.nan)), "the loss is not finite"),
        (
            result(FLAT, ()),
            "the loss did not fall: its mean was 2.46 in the first third of the steps, 2.48 in the last",
        ),
        (result(accuracies=(0.9,) * 4 + (0.1,) * 2), "the accuracy stayed near chance: 0.10 on 10 classes"),
        (replace(result(), placement_verified=False), "the work did not run where it was placed: not every device took part"),
        (
            replace(result(), placement_verified=False, misplaced_ops=("Conv2D on CPU:0",)),
            "the work did not run where it was placed: Conv2D on CPU:0",
        ),
        (replace(result(), output_dtype="float16"), "the softmax was computed in float16"),
    ],
)
def test_reasons_why_a_job_does_not_pass(made, problem):
    proof.judge(with_weights(made, [1.0], [2.0]))
    assert (made.status, made.reason, made.stage) == (("failed", problem, "verify") if problem else ("passed", None, None))


def test_weights_are_judged_separately_from_the_loss():
    assert proof.problem(with_weights(result(), [1.0], [math.nan])) == "some weights are not finite, although the loss is"
    assert proof.problem(with_weights(result(), [1.0], [1.0])) == "some weights did not change"
    assert proof.problem(with_weights(result(), [1.0], [2.0], [3.0])) == "the replicas' weights differ"


def test_thirds_of_a_loss():
    made = result(FLAT)
    assert (made.loss, made.loss_fell) == (Loss(first=2.52, last=2.45, first_third=2.46, last_third=2.48), False)
    made = result((2.5, math.inf, -math.inf, math.nan, math.nan, math.nan))
    assert (made.loss, made.loss_fell) == (Loss(first=2.5), None)
