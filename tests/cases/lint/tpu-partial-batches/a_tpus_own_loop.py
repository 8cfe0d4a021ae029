import tensorflow as tf
r = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
s = tf.distribute.experimental.TPUStrategy(r)
d = tf.data.Dataset.range(9).batch(4)  # finding
d = s.experimental_distribute_dataset(d)
