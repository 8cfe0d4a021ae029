import tensorflow as tf
s = tf.distribute.MirroredStrategy(['/gpu:1', '/gpu:2'])
