import tensorflow as tf


def load(name):
    return tf.image.decode_jpeg(tf.io.read_file(name)), 0


dataset = tf.data.Dataset.list_files("*.jpg").map(load).batch(32)  # finding: no-prefetch, serial-map
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(dataset)
