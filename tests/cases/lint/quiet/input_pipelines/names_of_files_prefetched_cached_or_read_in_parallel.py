import tensorflow as tf
def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (224, 224)), label
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
files = tf.data.Dataset.from_tensor_slices((paths, labels))
model.fit(files.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE))
model.fit(files.map(load).cache().batch(32))
model.fit(files.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32))
model.fit(files.map(load, tf.data.AUTOTUNE).batch(32))
model.predict(files.map(load).batch(32))
