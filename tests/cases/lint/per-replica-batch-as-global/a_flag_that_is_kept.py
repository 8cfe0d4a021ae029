import tensorflow as tf
from absl import flags
flags.DEFINE_integer("batch_size_per_replica", 64, "")
class Job:
    def __init__(self):
        self.batch_size_per_replica = flags.FLAGS.batch_size_per_replica
    def run(self):
        strategy = tf.distribute.MirroredStrategy()
        ds = tf.data.Dataset.range(9).batch(self.batch_size_per_replica)  # finding
        return strategy.experimental_distribute_dataset(ds)
Job().run()
