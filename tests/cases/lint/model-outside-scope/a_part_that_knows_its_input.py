import keras
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
encoder = keras.Sequential()
encoder.add(keras.layers.Dense(10, input_shape=(8,)))  # finding
with strategy.scope():
    model = keras.Sequential([encoder, keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y)
