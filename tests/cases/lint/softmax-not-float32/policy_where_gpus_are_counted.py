import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
if len(gpus) > 0:
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(10, activation="softmax")])  # finding
model.compile("adam", "mse")
