import tensorflow as tf
r = tf.distribute.cluster_resolver.TPUClusterResolver()
s = tf.distribute.TPUStrategy(r)  # finding
