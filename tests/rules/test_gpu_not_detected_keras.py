"""Keras: its backend, its version, and Keras 2 beside it."""

import pytest
from one_rule import QUICK, RULES, changed, found, status

from gpucheck.model import Severity, Status

JSON_FILE = {"keras.backend": "torch", "keras.backend_source": "/home/user/.keras/keras.json"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"environment.variables.KERAS_BACKEND": "jax", **QUICK}, Status.FOUND),
        ({"environment.variables.KERAS_BACKEND": "tensorflow", **QUICK}, Status.CLEAR),
        (QUICK, Status.SKIPPED),  # keras.json is not looked at
        (JSON_FILE, Status.FOUND),
        ({"packages.keras": None, "keras": {}, "environment.variables.KERAS_BACKEND": "jax"}, Status.CLEAR),
        ({"packages.keras.version": "2.15.0", "environment.variables.KERAS_BACKEND": "jax", **QUICK}, Status.CLEAR),
    ],
    ids=["variable-quick", "tensorflow-quick", "unset-quick", "file", "no-keras", "keras-2"],
)
def test_keras_backend(changes, expected):
    assert status("keras-backend-mismatch", changed(changes)) is expected


def test_backend_of_keras_json_quotes_the_file_and_is_a_valid_way():
    finding = found("keras-backend-mismatch", changed(JSON_FILE))
    assert '"backend": "torch" in /home/user/.keras/keras.json), which is a valid way to train' in finding.summary
    assert finding.severity is None
    assert RULES["keras-backend-mismatch"].severity is Severity.WARNING


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"environment.variables.KERAS_BACKEND": "theano", **QUICK}, "no backend named theano"),
        (
            {"environment.variables.KERAS_BACKEND": "torch", "keras": {"imported": False, "error": "No module named 'torch'"}},
            "can't be imported: it was told to run on torch",
        ),
    ],
)  # fmt: skip
def test_backend_that_keras_cannot_load_is_an_error(changes, words):
    finding = found("keras-backend-mismatch", changed(changes))
    assert words in finding.summary
    assert finding.severity is Severity.ERROR


LEGACY = {"environment.variables.TF_USE_LEGACY_KERAS": "1", "training.runs": []}
OLD_KERAS = {"name": "tf-keras", "version": "2.19.0", "folder": "/x"}


@pytest.mark.parametrize(
    ("changes", "summary"),
    [
        (
            {"packages.keras.version": "3.10.0", "keras.version": "3.10.0"},
            "Keras 3.10.0 is installed, and TensorFlow 2.21.0 asks for keras>=3.12.0.",
        ),
        (
            {"packages.keras": None, "keras": {"imported": False}},
            "Keras is not installed, and TensorFlow 2.21.0 asks for keras>=3.12.0.",
        ),
        (
            LEGACY,
            "TF_USE_LEGACY_KERAS asks for Keras 2, but tf_keras is not installed, and TensorFlow 2.21.0 needs tf_keras 2.21.",
        ),
        (
            {**LEGACY, "packages.tf_keras": OLD_KERAS},
            "TF_USE_LEGACY_KERAS asks for Keras 2, but tf_keras 2.19.0 is installed, and TensorFlow 2.21.0 needs tf_keras 2.21.",
        ),
    ],
    ids=["older", "absent", "no-tf-keras", "other-tf-keras"],
)
def test_keras_versions(changes, summary):
    assert found("keras-version-conflict", changed(changes)).summary == summary


def test_keras_that_trained_is_a_warning():
    older = {"packages.keras.version": "2.15.0", "keras.version": "2.15.0"}
    assert found("keras-version-conflict", changed(older)).severity is Severity.WARNING
    assert found("keras-version-conflict", changed({**older, "training.runs": []})).severity is None


@pytest.mark.parametrize(
    "changes",
    [
        {"packages.tf_keras": OLD_KERAS},  # nobody asked for Keras 2
        {**LEGACY, "environment.variables.TF_USE_LEGACY_KERAS": "yes"},  # TensorFlow ignores this value
        {**LEGACY, "packages.tf_keras": {**OLD_KERAS, "version": "2.21.0"}},
        {"packages.tensorflow": None, "packages.keras": None},
    ],
    ids=["unused", "ignored-value", "fitting", "no-tensorflow"],
)
def test_keras_is_left_alone(changes):
    assert status("keras-version-conflict", changed(changes)) is Status.CLEAR


def test_keras_is_judged_from_its_package_at_quick():
    plain = changed({"packages.keras.version": "2.15.0", "packages.keras_requirement": None, **QUICK})
    finding = found("keras-version-conflict", plain)
    assert finding.summary == "Keras 2.15.0 is installed, and TensorFlow 2.21.0 asks for keras>=3.12.0."
    assert finding.severity is None
