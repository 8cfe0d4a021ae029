import contextlib
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
@contextlib.contextmanager
def everywhere():
    with strategy.scope():
        yield
class Trainer:
    @everywhere()
    def build(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    def train(self, data):
        self.build()
        with strategy.scope():
            self.model.compile("adam", "mse")
        self.model.fit(data)
Trainer().train(load())
