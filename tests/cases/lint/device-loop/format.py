import tensorflow as tf
for i in range(2):
  with tf.device("/device:GPU:{}".format(i)):  # finding
    g=tf.gradients(l, v)
