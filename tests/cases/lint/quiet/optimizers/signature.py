import inspect

import keras

if "lr" in inspect.signature(keras.optimizers.Adam.__init__).parameters:
    optimizer = keras.optimizers.Adam(lr=0.001)
else:
    optimizer = keras.optimizers.Adam(learning_rate=0.001)
