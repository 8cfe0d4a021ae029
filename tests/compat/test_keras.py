import pytest

from gpucheck.compat import keras, tensorflow, versions


def test_needs() -> None:
    assert keras.needs("2.21") == ">=3.12.0"
    assert keras.needs("2.15.1") == ">=2.15.0,<2.16"
    assert keras.needs("2.22") is None


def test_keras_3_starts_with_2_16() -> None:
    for minor, release in tensorflow.RELEASES.items():
        takes_keras_3 = versions.satisfies("3.12.0", release.keras)
        assert takes_keras_3 is versions.at_least(minor, keras.FIRST_TENSORFLOW_WITH_KERAS_3)


@pytest.mark.parametrize(
    ("tf_keras", "installed", "fits"),
    [
        ("2.21.0", "2.21.0", True),
        ("2.20.1", "2.20.0", True),
        ("2.20.1", "2.21.0", False),
        ("2.19.0", "2.18.1", False),
        ("", "", False),
    ],
)
def test_tf_keras_goes_with_its_own_minor(tf_keras: str, installed: str, fits: bool) -> None:
    assert keras.tf_keras_matches(tf_keras, installed) is fits


def test_backends() -> None:
    assert keras.BACKENDS[0] == "tensorflow"
    assert set(keras.TRAINING_BACKENDS) < set(keras.BACKENDS)


def test_the_legacy_switch_is_compared_as_text() -> None:
    assert "1" in keras.LEGACY_VALUES
    assert "TRUE" not in keras.LEGACY_VALUES
