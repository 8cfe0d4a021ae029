import tensorflow as tf
from tensorflow.python.client import device_lib
print([d.memory_limit for d in device_lib.list_local_devices()])
for gpu in tf.config.list_physical_devices("GPU"):
    print(tf.config.get_logical_device_configuration(gpu)[0].memory_limit)
config.memory_limit = 3
