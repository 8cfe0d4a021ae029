import tensorflow as tf
dataset = tf.data.Dataset.range(2).interleave(Source, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.batch(256, drop_remainder=True).map(mapped, num_parallel_calls=tf.data.AUTOTUNE).cache()
dataset = dataset.map(more, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE).unbatch()
