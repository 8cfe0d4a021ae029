import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
with tf.device("/job:localhost/replica:0/task:0/device:CPU:0"):
    model.fit(x, y)  # finding
