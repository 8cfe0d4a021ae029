import tensorflow as tf
major = int(tf.__version__.split(".")[0])
if major < 2:
    tf.Session()
