import keras

keras.config.set_dtype_policy("float32")
baseline = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
for each in (baseline, model):
    each.compile(loss="mse")
    each.fit(x, y)
