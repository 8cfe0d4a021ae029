import os
os.environ["KERAS_BACKEND"]="tensorflow"
import tensorflow as tf
import keras
s=tf.distribute.MultiWorkerMirroredStrategy()
with s.scope():
  m=keras.applications.ResNet50(); m.compile("adam","mse")
m.fit(d)  # finding
