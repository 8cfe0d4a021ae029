import tensorflow as tf
def read(path):
    return tf.image.decode_png(tf.io.read_file(path))
def make(paths, labels, batch):
    dataset = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(1000)
    dataset = dataset.map(lambda path, label: (read(path), label))  # finding: serial-map
    return dataset.batch(batch)  # finding
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
print(read(paths[0]).shape)
model.fit(make(paths, labels, 32), validation_data=make(others, labels, 32))
