import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
if len(gpus) < 2:
    tf.config.experimental.set_memory_growth(gpus[0], True)
