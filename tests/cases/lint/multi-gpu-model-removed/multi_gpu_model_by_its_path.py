import tensorflow as tf
p = tf.keras.utils.multi_gpu_model(m, 2)  # finding
