import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
tf.distribute.experimental_set_strategy(strategy)
model = tf.keras.Sequential([])
model.compile(tf.keras.optimizers.Adam(), "mse")
model.fit(x)
