import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
m = tf.keras.Sequential(layers=[tf.keras.layers.Dense(1, input_shape=(3,))])
for g in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(g, True)  # finding
