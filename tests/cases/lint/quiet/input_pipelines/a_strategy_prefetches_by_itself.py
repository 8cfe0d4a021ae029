import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([])
    model.compile("adam", "mse")
model.fit(tf.data.TFRecordDataset(files).map(parse).batch(8))
