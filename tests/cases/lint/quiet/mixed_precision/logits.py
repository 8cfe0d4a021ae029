import keras
keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.layers.Dense(10)])
model.add(keras.layers.Activation("softmax", dtype="float32"))
model.compile("adam", "mse")
