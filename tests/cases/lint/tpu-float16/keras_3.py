import keras
import tensorflow as tf
keras.config.set_dtype_policy('mixed_float16')  # finding
r = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
s = tf.distribute.TPUStrategy(r)
with s.scope():
    m = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    m.compile("adam", "mse")
m.fit(d)
