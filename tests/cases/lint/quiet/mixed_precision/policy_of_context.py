import keras
keras.config.set_dtype_policy("mixed_bfloat16")
inputs = keras.Input((4,))
y = keras.layers.Dense(3, activation="softmax")(inputs)
y = keras.ops.cast(y, "float32")
m = keras.Model(inputs, y)
m.compile("adam", "mse")
