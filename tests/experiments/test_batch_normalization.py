"""Statistics of two replicas, local and synchronized, trained with the real TensorFlow on two logical CPU devices."""

import re

import pytest
from case_files import program
from experiments.page import differences
from in_tensorflow import MARKS, found_by

pytestmark = MARKS

SCRIPT = program("batch_normalization_script.py")


@pytest.fixture(scope="module")
def found():
    return found_by(SCRIPT)


def test_synchronized_statistics_match_the_global_batch(found):
    made = found["correct"]
    figures = made["figures"]
    assert made["problem"] is None
    assert figures["synchronized_distance_from_global_batch"] < 2e-3
    assert figures["local_distance_from_own_batch"] < 2e-3
    assert figures["local_distance_from_global_batch"] > 0.05


def test_losses_differ_with_synchronized_statistics(found):
    figures = found["correct"]["figures"]
    for loss in ("first_loss", "last_loss"):
        assert figures[f"synchronized_{loss}"] != figures[f"local_{loss}"]
        assert figures[f"synchronized_{loss}"] == pytest.approx(figures[f"local_{loss}"], rel=0.2)


def test_every_figure_is_documented(found):
    assert differences("batch_normalization", found["correct"]["figures"]) == []


def test_missing_synchronization_of_statistics_is_reported(found):
    expected = r"with synchronized=True the (mean of batch normalization is 0\.1|variance of batch normalization is 1)"
    assert re.match(expected, found["never"]["problem"])


def test_unexpectedly_synchronized_statistics_are_reported(found):
    assert "from that of its own batch" in found["always"]["problem"]
