import tensorflow as tf
from mylib.compat import IS_TF_1
def run():
    if not IS_TF_1:
        return None
    return tf.Session()
