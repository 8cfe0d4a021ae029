import keras
import tensorflow as tf
def make():
    model = keras.Sequential()
    model.add(keras.Input((8,)))
    model.add(keras.layers.Dense(1))
    return model
model = make()
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)  # finding
