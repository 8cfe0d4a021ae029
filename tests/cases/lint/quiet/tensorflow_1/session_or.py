import tensorflow as tf
if hasattr(tf, "compat") and hasattr(tf.compat, "v1"):
    cfg = tf.compat.v1.ConfigProto()
else:
    cfg = tf.ConfigProto()
