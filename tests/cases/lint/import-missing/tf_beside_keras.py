import keras

AUTOTUNE = tf.data.AUTOTUNE  # finding
keras.backend.clear_session()
