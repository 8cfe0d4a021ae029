import tensorflow as tf
for d in ['/gpu:1', '/gpu:2', '/gpu:3', '/gpu:4']:
    with tf.device(d):  # finding
        print(tf.constant(1.0))
