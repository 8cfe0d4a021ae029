import os
import tf_keras
os.environ["KERAS_BACKEND"] = "jax"
import keras
