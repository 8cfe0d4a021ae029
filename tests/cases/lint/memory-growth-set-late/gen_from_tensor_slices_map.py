import tensorflow as tf
d=tf.data.Dataset.from_tensor_slices([1]).map(lambda x: x)
for g in tf.config.list_physical_devices("GPU"):
  tf.config.experimental.set_memory_growth(g, True)  # finding
