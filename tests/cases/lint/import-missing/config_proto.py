config = tf.ConfigProto()  # finding
