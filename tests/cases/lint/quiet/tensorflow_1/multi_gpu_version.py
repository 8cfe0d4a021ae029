import tensorflow as tf
if tf.__version__ < "2.2":
    from tensorflow.keras.utils import multi_gpu_model
    m = multi_gpu_model(m, 2)
