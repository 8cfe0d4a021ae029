import tensorflow as tf
p=tf.config.list_physical_devices("GPU")
if len(p) > 0:
  tf.config.experimental.set_memory_growth(p[0], True)  # finding
