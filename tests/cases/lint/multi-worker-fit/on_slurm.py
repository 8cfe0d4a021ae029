import tensorflow as tf
resolver = tf.distribute.cluster_resolver.SlurmClusterResolver()
strategy = tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(dataset)  # finding
