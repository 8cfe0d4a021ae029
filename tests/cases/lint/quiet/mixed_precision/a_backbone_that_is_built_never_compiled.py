import keras
keras.config.set_dtype_policy("mixed_float16")
backbone = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
model = keras.Sequential([backbone, keras.layers.Dense(1, dtype="float32")])
model.compile("adam", "mse")
