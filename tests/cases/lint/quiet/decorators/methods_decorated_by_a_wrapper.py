import functools
import tensorflow as tf
def in_scope(method):
    def wrapper(self, *args):
        with self.strategy.scope():
            return method(self, *args)
    return functools.update_wrapper(wrapper, method)
class Trainer:
    def __init__(self):
        self.strategy = tf.distribute.MirroredStrategy()
        self.model = self.build(3)
        self.compile()
    @in_scope
    def build(self, n):
        return tf.keras.Sequential([tf.keras.layers.Dense(n)])
    @in_scope
    def compile(self):
        self.model.compile(tf.keras.optimizers.Adam(), "mse")
