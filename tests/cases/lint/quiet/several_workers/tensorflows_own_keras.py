import os
import tensorflow as tf
from tensorflow.python.keras import Sequential
os.environ["TF_CONFIG"] = config
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = Sequential([])
    model.compile("adam", "mse")
model.fit(x)
