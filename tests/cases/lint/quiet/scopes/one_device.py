import tensorflow as tf
strategy = tf.distribute.OneDeviceStrategy("/gpu:0")
model = tf.keras.Sequential([])
model.compile(tf.keras.optimizers.Adam(), "mse")
model.fit(x)
