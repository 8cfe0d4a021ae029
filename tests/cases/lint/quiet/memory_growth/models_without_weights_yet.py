import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(8)])
model.add(tf.keras.layers.Dense(1))
model.build()
flat = tf.keras.Sequential()
flat.add(tf.keras.layers.Flatten(input_shape=(28, 28)))
late = tf.keras.Sequential()
if deep:
    late.add(tf.keras.layers.Dense(8, input_shape=(4,)))
late.add(tf.keras.layers.Dense(1))
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
