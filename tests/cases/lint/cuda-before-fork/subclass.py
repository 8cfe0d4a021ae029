import multiprocessing
import tensorflow as tf
class W(multiprocessing.Process):
  def run(self): tf.zeros(3)
tf.zeros(1)
W().start()  # finding
