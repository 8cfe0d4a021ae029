import tensorflow.compat.v1 as tf
from tensorflow.compat.v1.keras import backend as K
tf.disable_v2_behavior()
K.set_session(tf.Session(config=tf.ConfigProto()))
