import keras
keras.mixed_precision.set_global_policy("mixed_float16")
def build():
  m=keras.Sequential()
  m.add(keras.layers.Dense(3,activation="softmax"))  # finding
  m.compile("adam","mse")
  return m
