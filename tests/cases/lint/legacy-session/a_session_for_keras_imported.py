import tensorflow as tf
from tensorflow.compat.v1.keras.backend import set_session
def limit(share):
    config = tf.compat.v1.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = share
    sess = tf.compat.v1.Session(config=config)
    set_session(sess)  # finding
limit(0.5)
