import tensorflow as tf
r=tf.distribute.cluster_resolver.TPUClusterResolver.connect()
s=tf.distribute.TPUStrategy(r)
with s.scope():
  m=tf.keras.Sequential([])
  m.compile("adam","mse")
m.fit(tf.data.Dataset.from_tensor_slices(x).shuffle(3).batch(128).prefetch(-1), epochs=3)  # finding
