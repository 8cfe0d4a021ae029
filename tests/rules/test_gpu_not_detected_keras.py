"""Keras: its backend, its version, and Keras 2 beside it."""

import pytest
from one_rule import QUICK, RULES, changed, found, roots, status

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


@pytest.mark.parametrize("name", ["mxnet", "tensorfow"])
@pytest.mark.parametrize("source", ["KERAS_BACKEND", "/home/user/.keras/keras.json"])
def test_a_backend_that_stops_the_import_of_tensorflow_is_one_cause(name, source):
    refused = {
        **({"environment.variables.KERAS_BACKEND": name} if source == "KERAS_BACKEND" else {}),
        "tensorflow": {"imported": False, "error_type": "ValueError", "error": f"Unable to import backend : {name}"},
        "backend": {"name": name, "source": source},
        "keras": None,
        "training.runs": [],
        "log": None,
    }
    assert roots(changed(refused)) == ["keras-backend-mismatch"]
    assert "tensorflow" in {item.fact for item in found("keras-backend-mismatch", changed(refused)).evidence}
    other = {"tensorflow": {"imported": False, "error_type": "ImportError", "error": "numpy.core.multiarray failed to import"}}
    assert set(roots(changed({**refused, **other}))) == {"tensorflow-import-failed", "keras-backend-mismatch"}


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
    assert finding.summary == "Keras 2.15.0 is installed, and TensorFlow 2.21.0 is made for keras>=3.12.0."
    assert finding.severity is None


@pytest.mark.parametrize("package", [{"packages.keras.version": "3.4.1"}, {"packages.keras": None}], ids=["older", "absent"])
@pytest.mark.parametrize("requirement", [None, ">=3.14"])
def test_a_requirement_that_metadata_does_not_hold_is_no_evidence(package, requirement):
    finding = found("keras-version-conflict", changed({**package, "packages.keras_requirement": requirement, **QUICK}))
    seen = {item.field: item.value for item in finding.evidence}
    if requirement:
        assert finding.summary.endswith("TensorFlow 2.21.0 asks for keras>=3.14.")
        assert seen["keras_requirement"] == ">=3.14"
    else:
        assert finding.summary.endswith("TensorFlow 2.21.0 is made for keras>=3.12.0.")
        assert seen.keys() == {"keras", "tensorflow.version"}
        assert "is made for" in finding.fix[0].text
