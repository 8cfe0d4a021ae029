import keras

config = tf.constant(1)  # finding
