import tensorflow as tf
PER_REPLICA_BATCH = 16
strategy = tf.distribute.MirroredStrategy()
ds = tf.data.Dataset.range(100).batch(PER_REPLICA_BATCH)  # finding
options = tf.distribute.InputOptions(experimental_replication_mode=tf.distribute.InputReplicationMode.PER_WORKER)
ds = strategy.experimental_distribute_dataset(ds, options)
