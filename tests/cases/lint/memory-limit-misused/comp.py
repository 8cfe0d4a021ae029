import tensorflow as tf
print([g.memory_limit for g in tf.config.list_physical_devices()])  # finding
