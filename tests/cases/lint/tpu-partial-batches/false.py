import tensorflow as tf
r=tf.distribute.cluster_resolver.TPUClusterResolver.connect()
s=tf.distribute.TPUStrategy(r)
with s.scope():
  m=tf.keras.Sequential([])
  m.compile("adam","mse")
m.fit(tf.data.Dataset.from_tensor_slices(x).batch(8, drop_remainder=False))  # finding
