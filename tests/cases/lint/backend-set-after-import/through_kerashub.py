import os
import keras_hub
os.environ["KERAS_BACKEND"] = "tensorflow"  # finding
