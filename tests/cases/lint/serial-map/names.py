import tensorflow as tf
def load(name):
    return tf.io.decode_jpeg(tf.io.read_file(name))

d = tf.data.Dataset.from_tensor_slices(names)
d = d.map(load)  # finding
d = d.batch(8).prefetch(tf.data.AUTOTUNE)
m = tf.keras.Sequential([tf.keras.layers.Dense(1)])
m.compile('adam', 'mse')
m.fit(d)
