import keras
from keras import layers

inputs = keras.Input((8,))
outputs = layers.Dense(1)(layers.Dense(16)(inputs))
model = keras.Model(inputs, outputs)
model.compile(loss="mse")
keras.config.set_dtype_policy("mixed_bfloat16")  # finding
model.fit(x, y, epochs=2)
