import tensorflow as tf
d=tf.keras.utils.image_dataset_from_directory("a")
for g in tf.config.list_physical_devices("GPU"):
  tf.config.experimental.set_memory_growth(g, True)  # finding
