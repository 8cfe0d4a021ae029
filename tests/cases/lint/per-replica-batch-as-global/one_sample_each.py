"""Eight GPUs by name, and a batch of eight."""

import keras
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(
    ["/gpu:0", "/gpu:1", "/gpu:2", "/gpu:3", "/gpu:4", "/gpu:5", "/gpu:6", "/gpu:7"]
)

with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")

model.fit(x, y, batch_size=8)  # finding
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(4))  # finding
model.fit(x, y, batch_size=64)
