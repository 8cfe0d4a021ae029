import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
import tensorflow as tf
model = keras.Sequential([keras.layers.Dense(1)])
model.build((None, 8))
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
