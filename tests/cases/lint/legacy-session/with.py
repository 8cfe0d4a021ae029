import tensorflow as tf
with tf.Session() as s: pass  # finding
