import tensorflow as tf
from packaging import version
IS_TF_1 = version.parse(tf.__version__).major == 1
if IS_TF_1:
    c = tf.ConfigProto()
    tf.Session(config=c)
