"""A training whose learning rate is too high."""

import keras
import numpy as np

x = 1e3 * np.random.default_rng(0).normal(size=(2048, 64)).astype("float32")
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(512, "relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(10.0), "mse")
model.fit(x, x[:, :1], batch_size=64, epochs=2, callbacks=[])
