import tensorflow as tf
try:
    from tensorflow.compat.v1.keras.backend import set_session
    set_session(tf.compat.v1.Session(config=tf.compat.v1.ConfigProto()))
except ImportError:
    pass
if hasattr(tf.keras.backend, "set_session"):
    tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=tf.compat.v1.ConfigProto()))
