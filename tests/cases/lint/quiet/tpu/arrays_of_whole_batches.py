"""Fashion-MNIST has 60,000 images: 1,875 batches of 32, Keras' default, and 600 batches of 100."""

import keras
import numpy as np
import tensorflow as tf

tpu = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
strategy = tf.distribute.TPUStrategy(tpu)

(x_train, y_train), _ = keras.datasets.fashion_mnist.load_data()
images = tf.expand_dims(x_train, -1)
x_train = x_train / 255.0

with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(10)])
    model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))

model.fit(x_train, y_train, epochs=5)
model.fit(x_train, y_train, epochs=5, batch_size=100)
model.fit(np.expand_dims(x_train, -1), y_train, batch_size=100)
model.fit(np.array(x_train, dtype="float32"), y_train, batch_size=len(x_train))
model.fit(x_train, y_train, batch_size=128, validation_split=0.2)
model.fit(x_train[:1024], y_train[:1024], batch_size=128)
model.fit(x_train, y_train, batch_size=128 * strategy.num_replicas_in_sync)
model.fit(np.random.rand(1024, 784), np.zeros((1024, 1)), batch_size=128)
model.fit(np.random.rand(28, 784)[None], y_train, batch_size=1)
model.fit(np.array([np.random.rand(784) for _ in range(1024)]), y_train, batch_size=128)
model.fit(np.expand_dims(np.random.rand(100, 8), 0), y_train)
model.fit(np.random.rand(10, 8), y_train)
model.fit(x_train, y_train, validation_split=0.1, validation_data=(x_train, y_train))
model.fit(images, y_train, epochs=5, batch_size=128)
model.fit(x_train, y_train, epochs=5, batch_size=128, steps_per_epoch=468)
