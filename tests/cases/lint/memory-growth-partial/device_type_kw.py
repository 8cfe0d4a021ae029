import tensorflow as tf
p=tf.config.list_physical_devices(device_type="GPU")
tf.config.experimental.set_memory_growth(device=p[0], enable=True)  # finding
