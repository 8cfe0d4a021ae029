import tensorflow as tf
model = tf.keras.Sequential([])
model.fit(tf.data.TFRecordDataset(files).map(parse).cache().batch(8))
