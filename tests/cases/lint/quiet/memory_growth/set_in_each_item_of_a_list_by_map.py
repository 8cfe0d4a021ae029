import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
list(map(lambda gpu: tf.config.experimental.set_memory_growth(gpu, True), gpus))
strategy = tf.distribute.MirroredStrategy()
