import tensorflow as tf

updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)  # finding
features = {"x": tf.FixedLenFeature([], tf.string)}  # finding
writer = tf.summary.FileWriter("logs")  # finding
