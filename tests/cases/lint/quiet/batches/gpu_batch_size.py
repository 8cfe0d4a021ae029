import tensorflow as tf
cpu_batch_size, gpu_batch_size = 8, 64
s = tf.distribute.MirroredStrategy()
d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(gpu_batch_size))
