import tensorflow as tf

tf.debugging.set_log_device_placement(False)
tf.debugging.set_log_device_placement(True)  # finding
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x, y)
