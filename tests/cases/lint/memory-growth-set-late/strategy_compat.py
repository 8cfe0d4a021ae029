import tensorflow as tf
s=tf.distribute.experimental.CentralStorageStrategy()
for g in tf.config.list_physical_devices("GPU"):
  tf.config.experimental.set_memory_growth(g, True)  # finding
