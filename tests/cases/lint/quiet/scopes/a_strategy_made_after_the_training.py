import tensorflow as tf
model = tf.keras.Sequential([])
model.compile("adam", "mse")
model.fit(x)
strategy = tf.distribute.MirroredStrategy()
