import tensorflow as tf
def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (224, 224)), label
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
dataset = tf.data.Dataset.from_tensor_slices((paths, labels)).map(load).batch(32)  # finding: no-prefetch, serial-map
model.fit(dataset, epochs=3)
