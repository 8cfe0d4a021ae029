import tensorflow as tf
p=tf.config.experimental.list_physical_devices("GPU")
try:
  tf.config.experimental.set_memory_growth(p[0], True)  # finding
except:
  pass
