import os
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
import keras, tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = keras.Sequential([])
    model.compile("adam", "mse")
model.fit(x)
