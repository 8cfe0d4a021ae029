import tensorflow as tf
x=tf.cast(3, tf.float32)
for g in tf.config.list_physical_devices("GPU"):
  tf.config.experimental.set_memory_growth(g, True)  # finding
