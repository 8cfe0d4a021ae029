import tensorflow as tf
gpu, *_ = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpu, True)  # finding
