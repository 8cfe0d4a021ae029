import tensorflow as tf
try:
    strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
except ValueError:
    strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([])
    model.compile("adam", "mse")
model.fit(tf.data.Dataset.from_tensor_slices(x).batch(8))
