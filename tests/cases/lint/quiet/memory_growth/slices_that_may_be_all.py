import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus[:count]:
    tf.config.experimental.set_memory_growth(gpu, True)
for gpu in gpus[1:]:
    tf.config.experimental.set_memory_growth(gpu, True)
