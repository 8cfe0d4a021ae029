import os
import keras
os.environ |= {"KERAS_BACKEND": "jax"}  # finding
