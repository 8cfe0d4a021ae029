import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
from keras import layers
import jax
from tensorflow import data as tf_data
mesh = keras.distribution.DeviceMesh(shape=(2, 4), axis_names=("data", "model"), devices=keras.distribution.list_devices())
keras.distribution.set_distribution(keras.distribution.DataParallel(devices=jax.devices()))
model = keras.Sequential([layers.Dense(10)])
dataset = tf_data.Dataset.from_tensor_slices((x, y)).batch(32)
model.compile(loss="mse")
model.fit(dataset, epochs=3)
