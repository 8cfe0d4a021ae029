import tensorflow as tf
from tensorflow.keras.datasets import mnist

tpu = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
strategy = tf.distribute.TPUStrategy(tpu)

(x_train, y_train), _ = mnist.load_data()
x_train = x_train.reshape(60000, 784).astype("float32") / 255

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10, activation="softmax")])
    model.compile(optimizer="rmsprop", loss="sparse_categorical_crossentropy")

model.fit(x_train, y_train, batch_size=128, epochs=20)  # finding
