import tensorflow as tf

try:
    from tensorflow.contrib import rnn
except ImportError:
    rnn = None
try:
    flags = tf.app.flags
except AttributeError:
    from absl import flags
tf.logging = tf.compat.v1.logging
tf.logging.set_verbosity(tf.logging.INFO)
if rnn:
    cell = rnn.BasicLSTMCell(8)
