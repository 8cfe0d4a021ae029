import tensorflow as tf
s = tf.distribute.MirroredStrategy(devices=['/gpu:1', '/gpu:2', '/gpu:3', '/gpu:4'])  # finding
