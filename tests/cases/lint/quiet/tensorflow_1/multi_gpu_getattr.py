import keras
multi = getattr(keras.utils, "multi_gpu_model", None)
if multi: multi(m, 2)
