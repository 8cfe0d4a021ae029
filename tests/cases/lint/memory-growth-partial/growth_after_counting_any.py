import tensorflow as tf
d = tf.config.list_physical_devices("GPU")
assert len(d) > 0
tf.config.experimental.set_memory_growth(d[0], True)  # finding
