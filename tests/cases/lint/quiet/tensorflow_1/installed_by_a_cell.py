# !pip install tensorflow-gpu==1.15.2
import tensorflow as tf

x = tf.placeholder(tf.float32)
with tf.Session() as session:
    session.run(x)
