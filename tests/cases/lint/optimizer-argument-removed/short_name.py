import tensorflow as tf

optimizer = tf.optimizers.Adam(lr=0.001)  # finding
