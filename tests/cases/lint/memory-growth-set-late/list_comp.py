import tensorflow as tf
tf.random.normal((3,))
[tf.config.experimental.set_memory_growth(g, True) for g in tf.config.list_physical_devices("GPU")]  # finding
