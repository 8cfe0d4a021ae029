import os
import keras
os.environ.update({"KERAS_BACKEND": "jax"})  # finding
