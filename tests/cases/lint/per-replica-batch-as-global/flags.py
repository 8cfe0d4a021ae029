import tensorflow as tf
s=tf.distribute.MirroredStrategy()
from absl import flags
F=flags.FLAGS
d=s.experimental_distribute_dataset(tf.data.TFRecordDataset("a").batch(F.per_replica_batch_size))  # finding
