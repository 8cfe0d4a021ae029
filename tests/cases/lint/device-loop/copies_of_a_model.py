import tensorflow as tf
models = []
for gpu in tf.config.list_logical_devices('GPU'):
  with tf.device(gpu.name):  # finding
    models.append(tf.keras.Sequential([]))
for m in models: m.set_weights(w)
