import tensorflow as tf

tf.config.run_functions_eagerly(False)
tf.config.run_functions_eagerly(True)  # finding
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x, y)
