import keras
keras.mixed_precision.set_global_policy("mixed_float16")
def dense(*args, **kwargs):
    kwargs.setdefault("dtype", "float32")
    return keras.layers.Dense(*args, **kwargs)
model = keras.Sequential([dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
other = keras.Sequential([keras.layers.Flatten(), (lambda **given: keras.layers.Dense(3, **given))(**options)])
other.compile("adam", "sparse_categorical_crossentropy")
