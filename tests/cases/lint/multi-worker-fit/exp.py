from keras import layers, Model
import keras
import tensorflow as tf
s=tf.distribute.experimental.MultiWorkerMirroredStrategy()
with s.scope():
  i=keras.Input((3,)); m=Model(i, layers.Dense(1)(i)); m.compile("adam","mse")
m.fit(d)  # finding
