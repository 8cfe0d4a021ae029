import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
print("TPU:", resolver.master())
strategy = tf.distribute.experimental.TPUStrategy(resolver)  # finding
