import tensorflow as tf
multi_gpu_batch_size = 64
s = tf.distribute.MirroredStrategy()
d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(multi_gpu_batch_size))
