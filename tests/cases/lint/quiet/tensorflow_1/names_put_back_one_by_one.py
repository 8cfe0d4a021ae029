import tensorflow as tf
import tensorflow.compat.v1 as tf1
for name in ("Session", "ConfigProto", "GPUOptions"):
    setattr(tf, name, getattr(tf1, name))
sess = tf.Session(config=tf.ConfigProto())
