import tensorflow as tf
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
with strategy.scope():
    m = tf.keras.Sequential([]); m.compile("adam", "mse")
d = tf.data.Dataset.from_tensor_slices(x).batch(8, **kw)
m.fit(d)
m.fit(x, y, batch_size=128)
