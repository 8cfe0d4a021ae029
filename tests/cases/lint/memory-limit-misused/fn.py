import tensorflow as tf
def f(gpu): gpu.memory_limit = 1024  # finding
gpus=tf.config.list_physical_devices("GPU")
if gpus:
  f(gpus[0])
