"""A user's script to measure a step: the same steps as the smoke job, and a callback with a clock.

The baseline for the step that ``gpucheck --strategy one_device`` reports. Prints the first step, which traces and compiles, and
the median of all others, in seconds. With the argument ``xla``, XLA compiles the steps.
"""

import statistics
import sys
import time

import keras
import tensorflow as tf

from gpucheck.core.training.smoke import network

device = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"


class Clock(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seconds = []

    def on_train_batch_begin(self, batch, logs=None):
        self.began = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self.seconds.append(time.perf_counter() - self.began)


with tf.distribute.OneDeviceStrategy(f"/{device}:0").scope():
    model = network.model(keras, compiled="xla" in sys.argv[1:])
clock = Clock()
data = network.dataset(tf, network.PER_REPLICA_BATCH[device])
model.fit(data, steps_per_epoch=network.STEPS, epochs=1, verbose=0, callbacks=[clock])
print(clock.seconds[0], statistics.median(clock.seconds[1:]))
