import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
if strategy.num_replicas_in_sync > 1:
    train_distributed(strategy)
else:
    m = tf.keras.Sequential([]); m.compile("adam", "mse"); m.fit(x)
