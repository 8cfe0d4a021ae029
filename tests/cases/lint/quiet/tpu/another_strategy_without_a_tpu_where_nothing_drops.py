import tensorflow as tf
try:
    strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
except ValueError:
    strategy = tf.distribute.MirroredStrategy()
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16 * strategy.num_replicas_in_sync)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(dataset.prefetch(1))
