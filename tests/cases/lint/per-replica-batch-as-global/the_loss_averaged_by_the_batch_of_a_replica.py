import tensorflow as tf
BATCH_SIZE_PER_REPLICA = 8
s = tf.distribute.MirroredStrategy()
tf.nn.compute_average_loss(l, global_batch_size=BATCH_SIZE_PER_REPLICA)  # finding
