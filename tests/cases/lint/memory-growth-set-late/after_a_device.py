import tensorflow as tf

with tf.device("/GPU:0"):
    pass
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)  # finding
