import tensorflow as tf
ds = optimise(tf.data.TFRecordDataset(files).map(parse).batch(8))
ds2 = tf.data.TFRecordDataset(files).map(parse).batch(8).apply(tuned)
model = tf.keras.Sequential([])
model.fit(ds)
model.fit(ds2)
