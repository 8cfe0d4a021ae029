import threading
import tensorflow as tf
x = tf.zeros(3)
def grow():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)  # finding
threading.Thread(target=grow).start()
