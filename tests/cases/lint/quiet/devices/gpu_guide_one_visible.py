import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
if gpus:
    try:
        tf.config.set_visible_devices(gpus[0], "GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
        print(len(tf.config.list_logical_devices("GPU")))
    except RuntimeError as e:
        print(e)
