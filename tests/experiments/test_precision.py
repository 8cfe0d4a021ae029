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


def test_16_bit_precisions_start_with_the_float32_loss(found):
    made = found["correct"]
    figures = made["figures"]
    assert made["problem"] is None
    assert made["devices"] == ["CPU:0"]
    for name in ("mixed_float16", "mixed_bfloat16"):
        assert 0 < figures[f"{name}_first_loss_relative_difference"] < 0.01
        assert figures[f"{name}_skipped_steps"] == 0
        assert figures[f"{name}_last_loss"] < figures[f"{name}_first_loss"]
    assert figures["mixed_float16_loss_scale"] == 2**15
    assert "mixed_bfloat16_loss_scale" not in figures  # omitted rather than unknown: bfloat16 has no loss scale


def test_speedup_comes_from_training_jobs_or_else_from_these_steps(found):
    figures = found["correct"]["figures"]
    assert figures["mixed_float16_training_speedup"] == 1.5
    ratio = figures["float32_step_seconds"] / figures["mixed_bfloat16_step_seconds"]
    assert figures["mixed_bfloat16_training_speedup"] == pytest.approx(ratio, rel=0.01)


def test_steps_skipped_by_loss_scaling_are_counted(found):
    made = found["overflowing"]
    assert made["figures"]["mixed_float16_skipped_steps"] == 4
    assert made["figures"]["mixed_float16_loss_scale"] == 2**36
    assert made["problem"] == "loss scaling skipped 4 of 4 steps in mixed_float16: the gradients overflow"


def test_every_figure_is_documented(found):
    assert differences("precision", found["correct"]["figures"]) == []


def test_precision_policy_is_restored(found):
    assert found["policy"] == "float32"
