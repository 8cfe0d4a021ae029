import tensorflow as tf
per_gpu_batch = 64
gpus = tf.config.list_physical_devices("GPU")
s = tf.distribute.MirroredStrategy(devices=[g.name for g in gpus[:1]])
d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(per_gpu_batch))
