import os
from tensorflow import keras
os.environ.setdefault("KERAS_BACKEND", "torch")  # finding
