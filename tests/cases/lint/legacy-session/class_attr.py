import tensorflow as tf
class A:
  def run(self):
    self.s=tf.Session()  # finding
