# was tensorflow==1.15 before the port
import tensorflow as tf

x = tf.placeholder(tf.float32)  # finding
