import tensorflow as tf
from keras import backend as K
sess = tf.Session()  # finding
K.set_session(sess)  # finding
