import tensorflow as tf
s=tf.distribute.MirroredStrategy()
def b():
  m=tf.keras.Sequential([])
  m.add(tf.keras.layers.Dense(1))
  return m
with s.scope():
  m=b()
m.compile(tf.keras.optimizers.Adam(0.1), "mse")  # finding
