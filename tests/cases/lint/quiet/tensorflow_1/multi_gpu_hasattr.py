import tensorflow as tf
if hasattr(tf.keras.utils, "multi_gpu_model"):
    m = tf.keras.utils.multi_gpu_model(m, 2)
