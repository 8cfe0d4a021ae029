import tensorflow as tf
import cfg
def main():
    strategy = tf.distribute.MirroredStrategy()
    prepare(strategy)
    ds = tf.data.Dataset.range(9).batch(cfg.BATCH_PER_GPU)
    return strategy.experimental_distribute_dataset(ds)
def prepare(strategy):
    setattr(cfg, "BATCH_PER_GPU", cfg.BATCH_PER_GPU * strategy.num_replicas_in_sync)
