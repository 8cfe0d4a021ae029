import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=tf.compat.v1.ConfigProto()))
