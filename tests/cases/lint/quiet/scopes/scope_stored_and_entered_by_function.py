import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
scope = strategy.scope
with scope():
    model = tf.keras.Sequential([])
    model.compile(tf.keras.optimizers.Adam(), "mse")
model.fit(x)
