import os
import keras
import ray
os.environ["KERAS_BACKEND"] = "torch"
ray.init()
