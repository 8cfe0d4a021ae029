import tensorflow as tf
def scale(image, label):
    return tf.cast(image, tf.float32) / 255, label
def show(path):
    return tf.io.decode_jpeg(tf.io.read_file(path))
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.data.Dataset.from_tensor_slices((images, labels)).map(scale).batch(32))
