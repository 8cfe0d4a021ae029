import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
if not tf.config.list_physical_devices("GPU"):
    with tf.device("/CPU:0"):
        model.fit(x, y)
