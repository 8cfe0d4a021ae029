import tensorflow as tf
PER_REPLICA_BATCH = 16
strategy = tf.distribute.MirroredStrategy()
ds = tf.data.Dataset.range(100).batch(PER_REPLICA_BATCH)
options = tf.distribute.InputOptions(
    experimental_place_dataset_on_device=True,
    experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA,
)
a = strategy.experimental_distribute_dataset(ds, options)
b = strategy.experimental_distribute_dataset(ds, options=make_options())
