"""Keras 2, as old programs request it (TF_USE_LEGACY_KERAS=1): the same jobs and experiments train."""

import pathlib
import sys

import pytest
from case_files import program
from in_tensorflow import MARKS, printed_by

LEGACY = pathlib.Path(sys.prefix) / "legacy"  # the Makefile installs tf_keras there
pytestmark = [
    *MARKS,
    pytest.mark.slow,
    pytest.mark.skipif(not (LEGACY / "tf_keras").is_dir(), reason=f"no tf_keras in {LEGACY}: make test-all"),
]

SCRIPT = program("keras_2_script.py")


@pytest.fixture(scope="module")
def found():
    return printed_by(SCRIPT, str(LEGACY))


def test_keras_2_is_imported(found):
    assert found["module"].startswith("tf_keras.")


def test_devices_train_alone_and_at_the_same_time(found):
    assert [(run["loop"], run["status"], run["reason"]) for run in found["runs"]] == [
        ("fit", "passed", None),
        ("train_step", "passed", None),
        ("train_step", "passed", None),
    ]
    first, *others = (run["loss"]["first"] for run in found["runs"])
    assert others == pytest.approx([first, first], rel=1e-3)
