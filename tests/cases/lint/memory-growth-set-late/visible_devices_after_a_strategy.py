import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
strategy = tf.distribute.MirroredStrategy()
tf.config.set_visible_devices(gpus[:1], "GPU")  # finding
