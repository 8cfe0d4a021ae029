import tensorflow as tf
from tensorflow import keras

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    adam = keras.optimizers.Adamax(lr=0.002 * strategy.num_replicas_in_sync)  # finding
    model.compile(adam, "mse")
