import tensorflow as tf
m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
m.compile("adam","mse")
d=tf.data.Dataset.list_files("a").interleave(tf.data.TFRecordDataset).map(f).batch(3)  # finding
m.fit(d)
