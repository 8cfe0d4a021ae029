import tensorflow as tf
m = tf.keras.Sequential([])  # finding
s = tf.distribute.MirroredStrategy()
with s.scope():
  m.compile(loss='mse')
m.fit(x)
