import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
with tf.device("/CPU:0"):
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(64)
model.fit(dataset)
