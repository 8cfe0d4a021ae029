import tensorflow as tf
from keras.layers import CuDNNLSTM  # finding
from keras.layers.advanced_activations import LeakyReLU  # finding

tf.keras.mixed_precision.experimental.set_policy("mixed_float16")  # finding
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x, y, workers=4, use_multiprocessing=True)  # finding
