import tensorflow as tf
def setup():
    [tf.config.experimental.set_memory_growth(gpu, True) for gpu in tf.config.list_physical_devices("GPU")]
setup()
tf.constant(1)
setup()
