import tensorflow as tf
def pipeline(batch):
    return tf.data.TFRecordDataset("a").map(parse).batch(batch).prefetch(1)  # finding
strategy = tf.distribute.MirroredStrategy()
train = strategy.experimental_distribute_dataset(pipeline(args.batch_size_per_replica))
