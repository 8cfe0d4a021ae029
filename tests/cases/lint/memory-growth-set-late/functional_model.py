import tensorflow as tf
i=tf.keras.Input((3,))
m=tf.keras.Model(i, tf.keras.layers.Dense(1)(i))
for g in tf.config.list_physical_devices("GPU"):
  tf.config.experimental.set_memory_growth(g, True)  # finding
