from keras.utils.training_utils import multi_gpu_model
multi_gpu_model(m, 2)  # finding
