import os, sys
import keras
if keras.backend.backend() != "jax":
    os.environ["KERAS_BACKEND"] = "jax"
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ)
model = keras.Sequential([keras.layers.Dense(1)])
