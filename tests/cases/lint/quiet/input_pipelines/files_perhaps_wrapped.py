import tensorflow as tf
ds = tf.data.TFRecordDataset(files).map(parse).batch(8)
if faster:
    ds = optimise(ds)
model = tf.keras.Sequential([])
model.fit(ds)
