import tensorflow as tf
for i in range(2):
  with tf.device("/gpu:%d" % i):  # finding
    with tf.GradientTape() as t: l=f(m,x)
