from importlib.metadata import version

import keras

if int(version("keras").split(".")[0]) < 3:
    optimizer = keras.optimizers.Adam(lr=0.001)
else:
    optimizer = keras.optimizers.Adam(learning_rate=0.001)
