import contextlib, tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
@contextlib.contextmanager
def everywhere():
    with strategy.scope():
        yield
with everywhere():
    model = tf.keras.Sequential([])
    model.compile("adam", "mse")
model.fit(x)
