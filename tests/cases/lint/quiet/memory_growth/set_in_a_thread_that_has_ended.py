import threading
import tensorflow as tf
def grow():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
first = threading.Thread(target=grow)
first.start()
first.join()
x = tf.zeros(3)
