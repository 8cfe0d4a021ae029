import contextlib, tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
stack = contextlib.ExitStack()
stack.enter_context(strategy.scope())
model = tf.keras.Sequential([])
with strategy.scope():
    model.compile(tf.keras.optimizers.Adam(), "mse")
