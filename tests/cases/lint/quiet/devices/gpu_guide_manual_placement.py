import tensorflow as tf
gpus = tf.config.list_logical_devices("GPU")
if gpus:
    c = []
    for gpu in gpus:
        with tf.device(gpu.name):
            a = tf.constant([[1.0, 2.0]])
            c.append(tf.matmul(a, a, transpose_b=True))
    with tf.device("/CPU:0"):
        print(tf.add_n(c))
