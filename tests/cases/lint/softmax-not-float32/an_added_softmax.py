from keras.models import Sequential
from keras import layers, config
config.set_dtype_policy("mixed_float16")
model = Sequential()
model.add(layers.Flatten())
model.add(layers.Dense(10, "softmax"))  # finding
model.compile("adam", "mse")
