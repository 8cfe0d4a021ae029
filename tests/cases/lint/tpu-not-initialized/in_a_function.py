import tensorflow as tf

def make():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
    return tf.distribute.TPUStrategy(resolver)  # finding

with make().scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
