import tensorflow as tf
strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
strategy2 = tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())
print(strategy.num_replicas_in_sync)
