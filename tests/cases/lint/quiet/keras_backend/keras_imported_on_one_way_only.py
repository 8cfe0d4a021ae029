import os
if old:
    import keras
else:
    os.environ["KERAS_BACKEND"] = "jax"
    import keras
