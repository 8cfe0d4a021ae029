import tensorflow as tf
setattr(tf, "Session", tf.compat.v1.Session)
sess = tf.Session()
