import tensorflow as tf
s=tf.distribute.MirroredStrategy()
with s.scope():
  m=tf.keras.Sequential([])
m.compile(tf.keras.optimizers.legacy.Adam(), "mse")  # finding
