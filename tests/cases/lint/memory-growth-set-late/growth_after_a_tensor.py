import tensorflow as tf
a = tf.constant(1)
for g in tf.config.list_physical_devices("GPU"):
  tf.config.experimental.set_memory_growth(g, True)  # finding
