import tensorflow as tf
class Growing:
    def __enter__(self):
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    def __exit__(self, *error):
        pass
with Growing():
    x = tf.ones((2, 2))
