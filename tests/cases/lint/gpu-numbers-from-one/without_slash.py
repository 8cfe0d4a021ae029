import tensorflow.compat.v2 as tf
s = tf.distribute.MirroredStrategy(('GPU:1', 'GPU:2', 'GPU:3', 'GPU:4'))  # finding
