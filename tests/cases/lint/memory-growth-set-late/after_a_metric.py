import tensorflow as tf

train_loss = tf.keras.metrics.Mean()
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)  # finding
