"""The default is created when the function is defined, before the scope is entered."""
import keras
import tensorflow as tf
def build(optimizer=keras.optimizers.Adam(1e-3), *, loss="mse"):
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile(optimizer, loss)  # finding
    return model
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = build()
