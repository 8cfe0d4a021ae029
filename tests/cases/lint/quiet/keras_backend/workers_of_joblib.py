import os
import tensorflow as tf
from joblib import Parallel, delayed
os.environ["KERAS_BACKEND"] = "jax"
Parallel(n_jobs=2)(delayed(train)(i) for i in range(2))
