import tensorflow as tf
setattr(tf, "ConfigProto", tf.compat.v1.ConfigProto)
for name, value in options.items():
    setattr(tf.keras.backend, name, value)
sess = tf.Session(config=tf.ConfigProto())  # finding
