import os
from tensorflow import keras
os.environ["KERAS_BACKEND"]="jax"  # finding
