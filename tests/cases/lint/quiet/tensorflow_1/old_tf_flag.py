import tensorflow as tf
legacy = tf.__version__[0] == "1"
if legacy:
    tf.Session()
