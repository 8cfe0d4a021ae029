import contextlib, tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([])
with contextlib.suppress(KeyError):
    stack.enter_context(strategy.scope())
model.compile(tf.keras.optimizers.Adam(), "mse")
