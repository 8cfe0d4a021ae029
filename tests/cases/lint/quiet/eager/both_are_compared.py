import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
for name in ("/CPU:0", "/GPU:0"):
    with tf.device(name):
        model.fit(x, y)
with tf.device("/CPU:0"):
    model.fit(x, y)
