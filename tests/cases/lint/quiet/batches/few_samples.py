"""Batches that are small on purpose, or no batches of the training."""

import tensorflow as tf
from tensorflow import keras

GPUS = ["/gpu:0", "/gpu:1", "/gpu:2", "/gpu:3"]
GLOBAL_BATCH_SIZE = 4  # one volume for each GPU


def train(strategy, data, **options):
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(optimizer="sgd", loss="mse")
    model.fit(data, **options)


volumes = tf.data.Dataset.from_tensor_slices((x, y))
train(tf.distribute.MirroredStrategy(GPUS), volumes.batch(GLOBAL_BATCH_SIZE))
train(tf.distribute.MirroredStrategy(GPUS), volumes.batch(2).map(augment).unbatch().batch(64))
train(tf.distribute.MirroredStrategy(GPUS), volumes.batch(2).rebatch(64))
files = keras.utils.image_dataset_from_directory("images", batch_size=2)
train(tf.distribute.MirroredStrategy(GPUS), files.unbatch().batch(GLOBAL_BATCH_SIZE))
train(tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1", "/cpu:2", "/cpu:3"]), volumes.batch(2))
train(tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"]), x, batch_size=2)
