import tensorflow as tf
s=tf.distribute.MirroredStrategy()
per_replica_batch_size=32
d=s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(per_replica_batch_size))  # finding
