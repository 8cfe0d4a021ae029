import tensorflow as tf
r=tf.distribute.cluster_resolver.TPUClusterResolver.connect()
s=tf.distribute.experimental.TPUStrategy(r)
with s.scope():
  m=tf.keras.Sequential([])
  m.compile("adam","mse")
m.fit(tf.data.TFRecordDataset("a").map(f).batch(8).prefetch(1))  # finding
