import tensorflow as tf
for g in tf.config.experimental.list_physical_devices("GPU"):
  print(g.name, g.memory_limit)  # finding
