import keras

model = keras.Sequential()
keras.mixed_precision.set_global_policy("mixed_float16")
model.add(keras.layers.Dense(8))
model.add(keras.layers.Dense(1, dtype="float32"))
model.compile(loss="mse")
model.fit(x, y)
