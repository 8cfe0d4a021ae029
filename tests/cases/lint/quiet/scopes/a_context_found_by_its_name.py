"""An attribute whose name is not a literal, or an element, may be the scope."""
import keras
import tensorflow as tf
import settings
strategy = tf.distribute.MirroredStrategy()
with getattr(settings, settings.name):
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
with next(settings.contexts):
    other = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
with strategy.scope():
    model.compile("adam", "mse")
    other.compile("adam", "mse")
model.fit(settings.x, settings.y)
other.fit(settings.x, settings.y)
