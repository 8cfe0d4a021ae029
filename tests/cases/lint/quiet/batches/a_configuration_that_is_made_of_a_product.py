import types
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
c = types.SimpleNamespace(batch_per_gpu=32 * strategy.num_replicas_in_sync)
ds = strategy.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(c.batch_per_gpu))
