import keras
import tensorflow as tf
s=tf.distribute.MultiWorkerMirroredStrategy()
with s.scope():
  m=keras.Sequential([]); m.compile("adam","mse")
  m.fit(d)  # finding
