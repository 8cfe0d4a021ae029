"""A fit that has ended leaves no thread behind."""

import pytest
from watch.test_fits import results_of


@pytest.mark.slow
@pytest.mark.tensorflow
def test_generator_is_released_when_the_fit_ends(tmp_path):
    """Its thread runs as long as a variable of ``fit`` exists, and two threads can't read one generator."""
    program = """
def rows():
    while True:
        time.sleep(0.05)
        yield np.ones((8, 8), "float32"), np.ones((8, 1), "float32")

data, watch = rows(), Watch(say=lambda line: None)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
train(data, 0, watch, model=model, steps_per_epoch=4)
try:
    model.evaluate(data, steps=2, verbose=0)
    done(error=None)
except ValueError as error:
    done(error=error)
"""
    found, _ = results_of(tmp_path, program)
    assert found == {"error": None}
