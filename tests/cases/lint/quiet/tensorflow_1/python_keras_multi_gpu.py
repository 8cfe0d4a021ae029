import tensorflow as tf
sess = tf.compat.v1.Session()
tf.compat.v1.keras.backend.set_session(sess)
