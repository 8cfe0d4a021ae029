import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
tf.config.run_functions_eagerly(True)
model.compile(loss="mse")
model.fit(x, y)
tf.config.run_functions_eagerly(False)
model.fit(x, y)
