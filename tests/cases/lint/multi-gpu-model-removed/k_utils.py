import keras
m=keras.utils.multi_gpu_model(m,gpus=2)  # finding
