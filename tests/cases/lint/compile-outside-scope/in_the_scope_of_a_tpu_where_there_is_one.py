import tensorflow as tf
try:
    strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
except ValueError:
    strategy = tf.distribute.get_strategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(), "mse")  # finding
model.fit(x, y)
