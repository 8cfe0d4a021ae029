import os as o
import keras as K
o.environ["KERAS_BACKEND"] = str("jax")  # finding
