import tensorflow as tf
tf.Session = tf.compat.v1.Session
tf.ConfigProto = tf.compat.v1.ConfigProto
tf.Session(config=tf.ConfigProto())
