import tensorflow as tf
resolver = find_a_tpu()
strategy = tf.distribute.TPUStrategy(resolver) if resolver else tf.distribute.get_strategy()
per_replica_batch = 16
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(per_replica_batch, drop_remainder=True).prefetch(2)  # finding
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(dataset)
