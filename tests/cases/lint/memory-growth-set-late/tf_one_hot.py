import tensorflow as tf
d=tf.one_hot([1],3)
for g in tf.config.list_physical_devices("GPU"):
  tf.config.experimental.set_memory_growth(g, True)  # finding
