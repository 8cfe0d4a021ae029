import tensorflow as tf
m=tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
for g in tf.config.list_physical_devices("GPU"):
  tf.config.experimental.set_memory_growth(g, True)  # finding
