import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
tf.config.experimental_connect_to_cluster(resolver)
strategy = tf.distribute.TPUStrategy(tpu_cluster_resolver=resolver)  # finding
