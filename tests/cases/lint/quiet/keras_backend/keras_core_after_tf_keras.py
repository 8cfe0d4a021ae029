import os
from tensorflow import keras as tfk
os.environ["KERAS_BACKEND"] = "torch"
import keras_core
