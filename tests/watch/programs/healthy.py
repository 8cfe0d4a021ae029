"""A training with data that is ready in time."""

import keras
import numpy as np

x = np.random.default_rng(0).normal(size=(2048, 64)).astype("float32")
y = (x[:, :1] > 0).astype("float32")
hidden = [keras.layers.Dense(512, "relu") for _ in range(4)]
model = keras.Sequential([keras.Input((64,)), *hidden, keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=64, epochs=16, validation_split=0.1, callbacks=[])
