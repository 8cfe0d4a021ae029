import tensorflow as tf
for i in range(2):
  with tf.device("/gpu:" + str(i)):  # finding
    with tf.GradientTape() as t: pass
