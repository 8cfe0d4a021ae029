import os
os.environ.update({"CUDA_VISIBLE_DEVICES": "0"})
import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
