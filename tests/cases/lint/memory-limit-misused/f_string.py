import tensorflow as tf
gpus=tf.config.list_logical_devices("GPU")
for i in range(len(gpus)):
  print(f"{gpus[i].memory_limit}")  # finding
