import tensorflow as tf
from tensorflow.config.experimental import VirtualDeviceConfiguration

x = tf.constant([1.0])
gpus = tf.config.experimental.list_physical_devices("GPU")
tf.config.experimental.set_virtual_device_configuration(gpus[0], [VirtualDeviceConfiguration(memory_limit=1024)])  # finding
try:
    tf.config.set_logical_device_configuration(gpus[1], [tf.config.LogicalDeviceConfiguration()])  # finding
except RuntimeError as error:
    print(error)
