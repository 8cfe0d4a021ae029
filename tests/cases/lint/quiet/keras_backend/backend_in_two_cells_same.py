import os
if "KERAS_BACKEND" not in os.environ:
    os.environ["KERAS_BACKEND"] = "jax"
import keras
os.environ["KERAS_BACKEND"] = "jax"
