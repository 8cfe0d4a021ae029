import tensorflow as tf

gpus = tf.config.list_logical_devices("GPU")
tf.device(gpus[0].name)  # finding
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
