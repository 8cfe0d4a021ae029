from keras.utils import *
multi_gpu_model(m,2)  # finding
