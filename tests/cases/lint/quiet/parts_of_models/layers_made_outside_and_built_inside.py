import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
head = tf.keras.layers.Dense(1)
encoder = tf.keras.Sequential([tf.keras.layers.Dense(4)])
noise = tf.keras.Sequential([tf.keras.layers.GaussianNoise(0.1), tf.keras.layers.Dropout(0.1)])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((8,)), noise, encoder, head])
    model.compile("adam", "mse")
model.fit(x, y)
