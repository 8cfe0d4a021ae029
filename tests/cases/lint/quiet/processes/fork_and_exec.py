import os
import tensorflow as tf
tf.zeros(3)
if os.fork() == 0:
    os.execv("/bin/ls", ["ls"])
