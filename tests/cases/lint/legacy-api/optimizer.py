import tensorflow as tf

optimizer = tf.train.AdagradOptimizer(0.01)  # finding
