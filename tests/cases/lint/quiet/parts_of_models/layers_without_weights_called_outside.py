import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
inputs = tf.keras.Input((28, 28))
x = tf.keras.layers.Flatten()(inputs)
with strategy.scope():
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
    model.compile("adam", "mse")
model.fit(x, y)
