import tensorflow as tf
from tensorflow.keras.mixed_precision import experimental as mp
mp.set_policy('mixed_float16')  # finding: legacy-api, tpu-float16
r = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
s = tf.distribute.experimental.TPUStrategy(r)
with s.scope():
    m = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    m.compile("adam", "mse")
m.fit(d)
