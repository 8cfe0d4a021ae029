import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
with tf.device("cpu"):
    model.fit(x, y)  # finding
