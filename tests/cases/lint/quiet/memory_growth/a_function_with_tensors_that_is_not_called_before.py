import tensorflow as tf
def forward(x):
    return tf.matmul(x, tf.zeros((3, 3)))
strategy_class = tf.distribute.MirroredStrategy
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
forward(tf.ones((3, 3)))
