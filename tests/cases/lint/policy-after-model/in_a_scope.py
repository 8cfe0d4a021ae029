import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")  # finding
    model.compile(loss="mse")
model.fit(x, y)
