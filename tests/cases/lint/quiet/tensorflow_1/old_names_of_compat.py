import tensorflow.compat.v1 as tf

optimizer = tf.train.AdamOptimizer(0.01)
x = tf.placeholder("float32", [None, 8])
