"""Trainings with slow Python input code, then with the change that Watch advises; the program measures its own steps.

Computing and reading sleep, so that other load on the machine has little effect. The time that each training waits for its input is
what its own steps take longer than they compute, so that it does not depend on the load during another training.
"""

import json
import os
import time

import keras
import numpy as np
import tensorflow as tf

COMPUTE_SECONDS, READ_SECONDS, STEPS = 0.15, 0.45, 12
BATCH = np.ones((16, 8), "float32"), np.ones((16, 1), "float32")


def sleeping(seconds, value, took=None):
    def wait(content):
        began = time.perf_counter()
        time.sleep(seconds)
        if took is not None:
            took.append(time.perf_counter() - began)
        return content

    slept = tf.numpy_function(wait, [value], value.dtype)
    slept.set_shape(value.shape)
    return slept


class Busy(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.took = []

    def call(self, x):
        with tf.control_dependencies([sleeping(COMPUTE_SECONDS, tf.reduce_sum(tf.stop_gradient(x)), self.took)]):
            return tf.identity(x)


class Clock(keras.callbacks.Callback):
    """Measure the mean time of the steps after the first, which compiles."""

    def __init__(self):
        super().__init__()
        self.seconds, self.first = 0.0, 1

    def on_train_batch_begin(self, batch, logs=None):
        if batch == self.first:
            self.began = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        if batch == STEPS - 1:
            self.seconds, self.first = self.seconds + time.perf_counter() - self.began, 0


class Parallel(keras.utils.PyDataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, index):
        time.sleep(READ_SECONDS)
        return BATCH


def generator():
    while True:
        time.sleep(READ_SECONDS)
        yield BATCH


def mapped(calls):
    data = tf.data.Dataset.from_tensors(BATCH).repeat(STEPS)
    return data.map(lambda x, y: (sleeping(READ_SECONDS, x), y), num_parallel_calls=calls)


def measure(data):
    """Return the mean seconds of a step, and the share of it that is not spent computing."""
    busy = Busy()
    model = keras.Sequential([keras.Input((8,)), busy, keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    clock = Clock()
    model.fit(data, epochs=2, steps_per_epoch=STEPS, verbose=0, callbacks=[clock])
    step = clock.seconds / (2 * STEPS - 1)
    return {"step": step, "waiting": 1 - sum(busy.took[1:]) / len(busy.took[1:]) / step}


found = {
    "generator": measure(generator()),
    "map": measure(mapped(None).repeat()),
    "parallel map": measure(mapped(tf.data.AUTOTUNE).repeat()),
    "PyDataset": measure(Parallel(workers=4)),
    "ready": measure(tf.data.Dataset.from_tensors(BATCH).repeat()),
}
print(json.dumps(found), flush=True)
os._exit(0)  # TensorFlow may hang if Python exits while a dataset's thread calls it
