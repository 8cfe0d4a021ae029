import tensorflow as tf
tf.keras.mixed_precision.set_global_policy("mixed_float16")
m=tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])  # finding
m.compile("adam","mse")
