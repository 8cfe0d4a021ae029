import keras

keras.mixed_precision.set_global_policy("float32")
baseline = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
baseline.compile(loss="mse")
baseline.fit(x, y)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
keras.config.set_dtype_policy("mixed_bfloat16")  # finding
model.compile(loss="mse")
model.fit(x, y)
