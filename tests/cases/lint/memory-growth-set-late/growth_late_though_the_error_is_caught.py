import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
gpus = tf.config.list_physical_devices("GPU")
try:
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)  # finding
except RuntimeError as error:
    print(error)
