import tensorflow as tf

BATCH_SIZE_PER_REPLICA = 64
strategy = tf.distribute.MirroredStrategy()

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")

dataset = tf.data.TFRecordDataset("records").batch(1024).map(parse).unbatch()
model.fit(dataset.batch(BATCH_SIZE_PER_REPLICA))  # finding
