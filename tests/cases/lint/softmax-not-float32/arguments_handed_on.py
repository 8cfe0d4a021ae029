import keras
keras.mixed_precision.set_global_policy("mixed_float16")
def dense(*args, **kwargs):
    return keras.layers.Dense(*args, **kwargs)  # finding
model = keras.Sequential([dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
