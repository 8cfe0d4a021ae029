import tensorflow as tf
c = []
for d in ['/gpu:1', '/gpu:2', '/gpu:3', '/gpu:4', '/gpu:5', '/gpu:6', '/gpu:7', '/gpu:8']:
    with tf.device(d):  # finding
        c.append(tf.constant(1.0))
