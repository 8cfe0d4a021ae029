import keras
if args.fp16:
    keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "mse")
