import keras
keras.mixed_precision.set_global_policy("mixed_float16")
m=keras.Sequential([keras.layers.Dense(3,activation=keras.activations.softmax)])  # finding
m.compile("adam","mse")
