import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
os.environ["KERAS_BACKEND"] = "jax"
