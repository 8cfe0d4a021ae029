import tensorflow as tf
per_worker_batch_size = 64
s = tf.distribute.MirroredStrategy()
d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(per_worker_batch_size))
