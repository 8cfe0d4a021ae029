import tensorflow as tf
m=tf.keras.models.load_model("a.keras")
for g in tf.config.list_physical_devices("GPU"):
  tf.config.experimental.set_memory_growth(g, True)  # finding
