import tensorflow as tf
s = tf.distribute.MirroredStrategy()
opt = tf.keras.optimizers.Adam()
with s.scope():
  m = tf.keras.Sequential([])
m.compile(opt, 'mse')  # finding
