import multiprocessing
import tensorflow as tf
class T:
  def run(self): tf.zeros(3)
t=T()
tf.zeros(1)
multiprocessing.Process(target=t.run).start()  # finding
