import tensorflow as tf
if tf.__version__.startswith("1."):
    config = tf.ConfigProto()
    session = tf.Session(config=config)
if hasattr(tf, "Session"):
    tf.Session()
try:
    tf.Session()
except AttributeError:
    pass
