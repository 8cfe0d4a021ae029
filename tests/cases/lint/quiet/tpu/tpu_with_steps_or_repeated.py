import tensorflow as tf
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
with strategy.scope():
    model = tf.keras.Sequential([])
    model.compile("adam", "mse")
model.fit(tf.data.Dataset.from_tensor_slices(x).batch(8), steps_per_epoch=3)
strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).repeat().batch(8))
