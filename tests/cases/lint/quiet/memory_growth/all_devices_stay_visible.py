import tensorflow as tf

x = tf.constant(1.0)
tf.config.set_visible_devices(tf.config.list_physical_devices("GPU"), "GPU")
tf.config.set_visible_devices(tf.config.get_visible_devices())
