"""The same steps in three precisions, with the real TensorFlow on a CPU, which emulates float16."""

import pytest
from case_files import program
from experiments.page import differences
from in_tensorflow import MARKS, found_by

pytestmark = MARKS

SCRIPT = program("precision_script.py")


@pytest.fixture(scope="module")
def found():
    return found_by(SCRIPT)


def test_sixteen_bits_start_with_the_same_loss(found):
    made = found["sound"]
    figures = made["figures"]
    assert made["problem"] is None
    assert made["devices"] == ["CPU:0"]
    for name in ("mixed_float16", "mixed_bfloat16"):
        assert 0 < figures[f"{name}_first_loss_relative_difference"] < 0.01
        assert figures[f"{name}_skipped_steps"] == 0
        assert figures[f"{name}_last_loss"] < figures[f"{name}_first_loss"]
    assert figures["mixed_float16_loss_scale"] == 2**15
    assert "mixed_bfloat16_loss_scale" not in figures  # not unknown: its loss is not scaled


def test_the_speed_is_that_of_the_training_jobs_on_the_same_device_else_of_these_steps(found):
    figures = found["sound"]["figures"]
    assert figures["mixed_float16_training_speedup"] == 1.5
    ratio = figures["float32_step_seconds"] / figures["mixed_bfloat16_step_seconds"]
    assert figures["mixed_bfloat16_training_speedup"] == pytest.approx(ratio, rel=0.01)


def test_steps_that_loss_scaling_leaves_out_are_counted(found):
    made = found["overflowing"]
    assert made["figures"]["mixed_float16_skipped_steps"] == 4
    assert made["figures"]["mixed_float16_loss_scale"] == 2**36
    assert made["problem"] == "loss scaling skipped 4 of 4 steps in mixed_float16: the gradients overflow"


def test_every_figure_is_explained(found):
    assert differences("precision", found["sound"]["figures"]) == []


def test_the_precision_is_restored(found):
    assert found["policy"] == "float32"
