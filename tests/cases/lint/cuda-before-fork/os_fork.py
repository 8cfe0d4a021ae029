import os
import tensorflow as tf
tf.zeros(3)
if os.fork() == 0: work()  # finding
