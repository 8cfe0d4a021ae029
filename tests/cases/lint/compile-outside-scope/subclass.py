import tensorflow as tf
s=tf.distribute.MirroredStrategy()
class N(tf.keras.Model): pass
with s.scope():
  m=N()
m.compile(tf.keras.optimizers.Adam(), "mse")  # finding
