import tensorflow as tf
try:
    strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
except ValueError:
    strategy = tf.distribute.get_strategy()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])  # finding
with strategy.scope():
    model.compile("adam", "mse")
model.fit(x, y)
