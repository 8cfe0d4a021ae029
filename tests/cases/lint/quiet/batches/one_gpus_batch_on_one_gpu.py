import tensorflow as tf
batch_size_per_gpu = 8
strategy = tf.distribute.MirroredStrategy(["/gpu:0"])
d = strategy.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(batch_size_per_gpu))
