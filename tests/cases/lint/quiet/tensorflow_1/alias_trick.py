import tensorflow as tf
if tf.__version__.startswith("2"):
    tf = tf.compat.v1
tf.Session()
