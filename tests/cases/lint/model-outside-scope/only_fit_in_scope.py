import tensorflow as tf
s=tf.distribute.MirroredStrategy()
m=tf.keras.Sequential([])  # finding
m.compile("adam","mse")
with s.scope():
  m.fit(x)
