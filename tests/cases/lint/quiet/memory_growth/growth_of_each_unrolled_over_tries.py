import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
try:
    tf.config.experimental.set_memory_growth(gpus[0], True)
    tf.config.experimental.set_memory_growth(gpus[1], True)
except: pass
