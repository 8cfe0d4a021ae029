import keras
model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "mse")
keras.mixed_precision.set_global_policy("mixed_float16")
