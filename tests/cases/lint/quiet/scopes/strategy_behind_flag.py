import tensorflow as tf
strategy = tf.distribute.MirroredStrategy() if FLAGS.multi else None
m = tf.keras.Sequential([]); m.compile("adam", "mse"); m.fit(x)
