import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

tpu = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
strategy = tf.distribute.TPUStrategy(tpu)
batch_size = 64

with strategy.scope():
    model = models.Sequential([layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")

inputs = np.random.rand(1000, 8).astype(np.float32)
model.fit(inputs, np.zeros((1000, 1)), batch_size)  # finding
