"""One of two workers that train a model with MultiWorkerMirroredStrategy in a custom loop; worker 1 reads slowly."""

import json
import os
import sys
import time

import tensorflow as tf

import gpucheck.keras

strategy = tf.distribute.MultiWorkerMirroredStrategy()
number = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
with strategy.scope():
    weight = tf.Variable(tf.ones((8, 1)))


def read(x):
    time.sleep(0.1 * number)
    return x


def load(x):
    return tf.ensure_shape(tf.numpy_function(read, [x], tf.float32), (4, 8))


def update(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ weight))
    gradient = tape.gradient(loss, weight)
    weight.assign_sub(0.1 * tf.distribute.get_replica_context().all_reduce("mean", gradient))
    return loss


@tf.function
def step(x):
    return strategy.run(update, args=(x,))


data = tf.data.Dataset.from_tensors(tf.ones((4, 8))).repeat(20).map(load)
data = strategy.distribute_datasets_from_function(lambda context: data)
watch = gpucheck.keras.Watch(report=sys.argv[1])
for x in watch.steps(data, epochs=2, batch_size=4):
    step(x)
