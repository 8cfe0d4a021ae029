import multiprocessing
import tensorflow as tf
def f(): tf.zeros(3)
tf.zeros(3)
c=multiprocessing.get_context("fork")
c.Process(target=f).start()  # finding
