import tensorflow as tf
if train:
    tf.zeros(3)
else:
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
