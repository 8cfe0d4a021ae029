import keras
import pytest

model = keras.Sequential([keras.layers.Dense(1)])
with pytest.raises(ValueError):
    model.save("folder")
try:
    model.save_weights("model.ckpt")
except ValueError:
    model.save_weights("model.weights.h5")
