import os
import tensorflow as tf
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
