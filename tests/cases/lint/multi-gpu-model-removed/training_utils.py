from keras.utils.training_utils import multi_gpu_model as mg
mg(m)  # finding
