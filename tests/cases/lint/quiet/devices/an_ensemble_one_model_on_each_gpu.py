import tensorflow as tf
for i in range(4):
    with tf.device(f"/gpu:{i}"):
        model = tf.keras.Sequential([])
        model.compile("adam", "mse")
        model.fit(x[i], y[i])
