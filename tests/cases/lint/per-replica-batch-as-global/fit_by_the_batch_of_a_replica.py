import keras, tensorflow as tf
per_gpu_batch_size = 32
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([])
    model.compile("adam", "mse")
model.fit(x, y, batch_size=per_gpu_batch_size)  # finding
