import tensorflow as tf
tf.debugging.set_log_device_placement(True)
print(tf.constant(1.0))
tf.debugging.set_log_device_placement(False)
m = tf.keras.Sequential([tf.keras.layers.Dense(1)])
m.compile('adam', 'mse')
m.fit(x, y)
