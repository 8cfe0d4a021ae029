"""MNIST without a tenth for validation: 54,000 images are not a multiple of 32."""

import keras
import numpy as np
import tensorflow as tf

strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
(x_train, y_train), _ = keras.datasets.mnist.load_data()

with strategy.scope():
    model = keras.Sequential([keras.layers.Conv2D(8, 3), keras.layers.Flatten(), keras.layers.Dense(10)])
    model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))

model.fit(np.expand_dims(x_train, -1), y_train, validation_split=0.1)  # finding
