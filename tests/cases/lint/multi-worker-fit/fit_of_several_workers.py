import tensorflow as tf
import keras
s = tf.distribute.MultiWorkerMirroredStrategy()
with s.scope():
  m = keras.Sequential([])
m.fit(d)  # finding
