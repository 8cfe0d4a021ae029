import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
tf.config.run_functions_eagerly(run_eagerly=True)  # finding
model.compile(loss="mse")
model.fit(x, y)
