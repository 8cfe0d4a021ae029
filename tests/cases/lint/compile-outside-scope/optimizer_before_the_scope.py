import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
optimizer = tf.keras.optimizers.Adam(1e-3)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(optimizer=optimizer, loss="mse")  # finding
model.fit(x, y)
