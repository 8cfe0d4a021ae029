import functools
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
def in_scope(fn):
    @functools.wraps(fn)
    def wrapper(*a, **k):
        with strategy.scope():
            return fn(*a, **k)
    return wrapper
@in_scope
def build():
    return tf.keras.Sequential([tf.keras.layers.Dense(1)])
model = build()
with strategy.scope():
    model.compile(tf.keras.optimizers.Adam(), "mse")
model.fit(x, y)
