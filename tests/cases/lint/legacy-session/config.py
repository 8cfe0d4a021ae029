import tensorflow as tf
import keras
c=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))  # finding
keras.backend.set_session(tf.Session(config=c))  # finding
