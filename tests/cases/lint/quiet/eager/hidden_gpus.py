import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
with tf.device("/CPU:0"):
    model.fit(x, y)
