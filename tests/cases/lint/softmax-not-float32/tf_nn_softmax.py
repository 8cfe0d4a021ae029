import tensorflow as tf
from tensorflow.keras import mixed_precision as mp
mp.set_global_policy("mixed_float16")
m=tf.keras.Sequential([tf.keras.layers.Dense(3, activation=tf.nn.softmax)])  # finding
m.compile("adam","mse")
