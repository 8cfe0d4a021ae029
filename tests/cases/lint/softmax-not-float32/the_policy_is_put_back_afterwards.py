import keras
keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])  # finding
keras.mixed_precision.set_global_policy("float32")
model.compile("adam", "categorical_crossentropy")
