import tensorflow as tf
print(tf.config.list_physical_devices('GPU')[0].memory_limit)  # finding
