import keras
keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((4,))
x = keras.layers.Dense(3, activation="softmax", dtype=keras.mixed_precision.Policy("float32"))(inputs)
m = keras.Model(inputs, x)
m.compile("adam", "mse")
