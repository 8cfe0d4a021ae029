import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
tf.config.set_visible_devices(gpus[:1], "GPU")
for gpu in gpus[:1]:
    tf.config.experimental.set_memory_growth(gpu, True)
