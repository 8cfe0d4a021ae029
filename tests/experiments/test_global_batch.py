"""The same global batch on two replicas and on one device, trained with the real TensorFlow on two logical CPU devices."""

import pytest
from case_files import program
from experiments.page import differences
from in_tensorflow import MARKS, found_by

pytestmark = MARKS

SCRIPT = program("global_batch_script.py")


@pytest.fixture(scope="module")
def found():
    return found_by(SCRIPT)


def test_losses_of_replicas_match_one_device_with_the_same_global_batch(found):
    made = found["correct"]
    figures = made["figures"]
    assert made["problem"] is None
    assert made["devices"] == ["CPU:0", "CPU:1"]
    assert (figures["per_replica_batch_size"], figures["global_batch_size"]) == (8, 16)
    assert figures["first_loss_of_replicas"] == pytest.approx(figures["first_loss_of_one_device_same_global_batch"], rel=1e-5)
    assert figures["last_loss_of_replicas"] == pytest.approx(figures["last_loss_of_one_device_same_global_batch"], rel=0.02)


def test_larger_global_batch_changes_the_loss(found):
    figures = found["correct"]["figures"]
    steps, samples = (figures[f"same_{what}_last_loss_of_one_device_same_per_replica_batch"] for what in ("steps", "samples"))
    assert abs(steps - figures["last_loss_of_replicas"]) > 0.02
    assert samples < figures["last_loss_of_replicas"]  # twice the updates on the same samples


def test_loss_not_averaged_over_the_replicas_is_reported(found):
    assert "not averaged over the global batch" in found["unscaled"]
    assert "16 samples" in found["unscaled"]


def test_every_figure_is_documented(found):
    assert differences("global_batch", found["correct"]["figures"]) == []


def test_tf32_setting_is_restored(found):
    assert found["tf32"] is True


def test_single_device_is_skipped(found):
    assert found["alone"] == "replicas need two devices, and there is only CPU:0"
