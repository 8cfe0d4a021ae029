gpus = tf.config.list_physical_devices("GPU")  # finding
print(gpus)
