"""A training that waits for a Python function in ``dataset.map``, which calls an installed package."""

import augment
import keras
import tensorflow as tf

import gpucheck.keras


def read(x):
    return augment.turn(x)


def load(x, y):
    return tf.ensure_shape(tf.py_function(read, [x], tf.float32), (8, 4)), y


data = tf.data.Dataset.from_tensors((tf.ones((8, 4)), tf.ones((8, 1)))).repeat(20).map(load)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=False)
model.fit(data, callbacks=[gpucheck.keras.Watch()], verbose=0)
