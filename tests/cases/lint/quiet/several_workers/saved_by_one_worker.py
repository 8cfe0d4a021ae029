import sys

import keras
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy() if len(sys.argv) > 1 else tf.distribute.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
model.save("model.keras")
other = keras.Sequential([keras.layers.Dense(1)])
other.save("other.keras")
