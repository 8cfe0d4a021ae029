from os import environ
import tensorflow.keras
environ["KERAS_BACKEND"] = "jax"  # finding
