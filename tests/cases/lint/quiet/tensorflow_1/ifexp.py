import tensorflow as tf
Session = tf.Session if hasattr(tf, "Session") else tf.compat.v1.Session
s = tf.Session() if tf.__version__[0] == "1" else None
