import tensorflow as tf, wrapt
strategy = tf.distribute.MirroredStrategy()
class Scoped:
    def __init__(self, fn):
        self.fn = fn
    def __call__(self, *args):
        with strategy.scope():
            return self.fn(*args)
@wrapt.decorator
def scoped(wrapped, instance, args, kwargs):
    with strategy.scope():
        return wrapped(*args, **kwargs)
@Scoped
def first():
    return tf.keras.Sequential([])
@scoped
def second():
    return tf.keras.Sequential([])
one, two = first(), second()
with strategy.scope():
    one.compile("adam", "mse")
    two.compile("adam", "mse")
