import os
import tensorflow as tf
os.environ["KERAS_BACKEND"] = "jax"
import keras_core as keras
