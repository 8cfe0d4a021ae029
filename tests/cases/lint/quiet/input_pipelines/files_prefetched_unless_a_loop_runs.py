import tensorflow as tf
ds = tf.data.TFRecordDataset("a").map(parse).batch(8).prefetch(1)
for name in names:
    ds = tf.data.TFRecordDataset(name).map(parse).batch(8)
model = tf.keras.Sequential([])
model.fit(ds)
