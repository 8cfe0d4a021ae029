import keras.backend.tensorflow_backend as KTF
import tensorflow as tf
KTF.set_session(tf.Session())  # finding
