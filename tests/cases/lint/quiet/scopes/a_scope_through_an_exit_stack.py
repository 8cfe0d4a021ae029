import contextlib, tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
with contextlib.ExitStack() as stack:
    stack.enter_context(strategy.scope())
    model = tf.keras.Sequential([])
model.compile(tf.keras.optimizers.Adam(), "mse")
model.fit(x)
