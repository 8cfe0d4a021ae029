from tensorflow.python.keras.utils.multi_gpu_utils import multi_gpu_model
multi_gpu_model(m,2)  # finding
