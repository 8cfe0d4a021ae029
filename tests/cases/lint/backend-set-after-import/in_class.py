import os
import keras
class T:
  def __init__(self, b="jax"):
    os.environ["KERAS_BACKEND"] = b  # finding
T()
