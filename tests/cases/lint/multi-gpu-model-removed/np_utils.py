from keras.utils import np_utils, multi_gpu_model  # finding
