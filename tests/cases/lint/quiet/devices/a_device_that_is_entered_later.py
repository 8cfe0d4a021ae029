import contextlib

import tensorflow as tf

place = tf.device("/GPU:0")
with place, tf.device("/GPU:0"):
    total = tf.reduce_sum(values)
with contextlib.ExitStack() as stack:
    stack.enter_context(tf.device("/GPU:1"))
    other = tf.reduce_sum(values)
