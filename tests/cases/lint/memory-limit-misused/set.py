import tensorflow as tf
g=tf.config.list_physical_devices("GPU")[0]
g.memory_limit=3  # finding
