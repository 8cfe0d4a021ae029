import keras, tensorflow as tf
s = tf.distribute.MirroredStrategy()
with s.scope():
  m = keras.Sequential([])
m.compile('adam', 'mse')  # finding
