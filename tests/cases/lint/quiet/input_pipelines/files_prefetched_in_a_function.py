import tensorflow as tf
def configure(ds):
    return ds.shuffle(100).batch(32).prefetch(buffer_size=tf.data.AUTOTUNE)
ds = configure(tf.data.Dataset.list_files("*/*").map(process, num_parallel_calls=tf.data.AUTOTUNE))
model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
model.compile("adam", "mse")
model.fit(ds)
