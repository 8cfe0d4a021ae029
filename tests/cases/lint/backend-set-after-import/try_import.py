import os
try:
  import keras
except ImportError:
  raise
os.environ["KERAS_BACKEND"] = "jax"  # finding
