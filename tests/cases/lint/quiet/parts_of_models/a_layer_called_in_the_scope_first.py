import keras
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
inputs = keras.Input((8,))
shared = keras.layers.Dense(8)
with strategy.scope():
    shared(inputs)
x = shared(inputs)
with strategy.scope():
    model = keras.Model(inputs, x)
    model.compile("adam", "mse")
model.fit(x, y)
