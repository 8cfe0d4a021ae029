import tensorflow as tf

tf.set_random_seed(1)  # finding
with tf.variable_scope("layer"):  # finding
    w = tf.get_variable("w", [8, 1])  # finding
start = tf.global_variables_initializer()  # finding
