import tensorflow as tf
for gpu in tf.config.list_physical_devices("GPU"):
    setattr(gpu, "memory_limit", 4096)  # finding
