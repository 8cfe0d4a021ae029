try:
    import tensorflow.compat.v1 as tf
except ImportError:
    import tensorflow as tf
tf.Session()
