from keras.utils import np_utils, multi_gpu_model  # finding: legacy-api, multi-gpu-model-removed
