import tensorflow as tf
p=tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(p[-1], True)  # finding
