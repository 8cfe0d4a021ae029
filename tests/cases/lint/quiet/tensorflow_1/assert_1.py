import tensorflow as tf
assert tf.__version__.startswith("1."), "needs 1.x"
tf.Session()
