import tensorflow as tf
for i, g in enumerate(tf.config.list_logical_devices("GPU")):
  with tf.device(g.name):  # finding
    with tf.GradientTape() as t: pass
