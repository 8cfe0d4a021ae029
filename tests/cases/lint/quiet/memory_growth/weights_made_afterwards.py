import tensorflow as tf
model = tf.keras.Sequential()
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
model.add(tf.keras.layers.Dense(1, input_shape=(4,)))
model.build((None, 4))
