import tensorflow as tf
try:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
    strategy = tf.distribute.TPUStrategy(resolver)
except ValueError:
    strategy = tf.distribute.get_strategy()
teacher = tf.keras.Sequential([tf.keras.layers.Dense(1)])
teacher.compile("adam", "mse")
teacher.fit(x, y)
with strategy.scope():
    student = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    student.compile("adam", "mse")
student.fit(x, y)
