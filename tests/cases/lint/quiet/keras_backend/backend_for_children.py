import os, subprocess
import keras
os.environ["KERAS_BACKEND"] = "jax"
subprocess.run(["python", "train.py"])
