import tensorflow as tf
import tensorflow.contrib.slim as slim  # finding
from tensorflow import flags  # finding

flags.DEFINE_string("data", "", "folder")
tf.logging.set_verbosity(tf.logging.INFO)  # finding
hidden = tf.layers.dense(x, 8)  # finding
files = tf.gfile.Glob("*.jpg")  # finding
tf.app.run()  # finding
