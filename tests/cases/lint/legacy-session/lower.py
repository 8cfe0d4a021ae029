import tensorflow as tf
def f(a=tf.Session()): pass  # finding
