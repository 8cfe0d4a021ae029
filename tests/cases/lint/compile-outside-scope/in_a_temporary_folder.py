import tempfile
import keras
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
with tempfile.TemporaryDirectory() as folder:
    model.compile("adam", "mse")  # finding
    model.fit(x, y)
