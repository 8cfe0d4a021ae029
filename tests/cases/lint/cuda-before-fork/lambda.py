import multiprocessing
import tensorflow as tf
tf.zeros(1)
multiprocessing.Process(target=lambda: tf.zeros(3)).start()  # finding
