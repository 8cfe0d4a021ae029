"""A training that waits for a Python function in ``dataset.map``."""

import time

import keras
import tensorflow as tf

import gpucheck.keras


def slow(x, y):
    return tf.py_function(lambda value: (time.sleep(0.7), value)[1], [x], tf.float32), y


def shaped(x, y):
    return tf.ensure_shape(x, (8, 4)), y


data = tf.data.Dataset.from_tensors((tf.ones((8, 4)), tf.ones((8, 1)))).repeat(20).map(slow).map(shaped)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=False)
model.fit(data, callbacks=[gpucheck.keras.Watch()], verbose=0)
