import tensorflow as tf
sess=tf.InteractiveSession()  # finding
