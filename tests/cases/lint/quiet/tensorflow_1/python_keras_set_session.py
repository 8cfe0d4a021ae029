import tensorflow as tf
from tensorflow.python.keras.backend import set_session
set_session(tf.compat.v1.Session())
