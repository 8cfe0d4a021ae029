import tensorflow as tf

tf.device("/GPU:1")  # finding
total = tf.reduce_sum(values)
