import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")[:1]
tf.config.set_visible_devices(gpus, "GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
