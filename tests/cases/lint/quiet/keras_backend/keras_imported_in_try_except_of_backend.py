import os
try:
    import keras
except ImportError:
    os.environ["KERAS_BACKEND"] = "torch"
    import keras
