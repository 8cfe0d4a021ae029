from gpucheck.cli.request import BACKENDS
from gpucheck.core.compat import keras, tensorflow, versions


def test_keras_3_starts_with_2_16() -> None:
    for minor, release in tensorflow.RELEASES.items():
        takes_keras_3 = versions.satisfies("3.12.0", release.keras)
        assert takes_keras_3 is versions.at_least(minor, keras.FIRST_TENSORFLOW_WITH_KERAS_3)


def test_tensorflow_is_the_first_backend() -> None:
    assert keras.BACKENDS[0] == "tensorflow"
    assert set(keras.TRAINING_BACKENDS) < set(keras.BACKENDS)


def test_legacy_values_are_case_sensitive() -> None:
    assert "1" in keras.LEGACY_VALUES
    assert "TRUE" not in keras.LEGACY_VALUES


def test_command_line_offers_the_backends_that_train():
    assert keras.TRAINING_BACKENDS == BACKENDS
