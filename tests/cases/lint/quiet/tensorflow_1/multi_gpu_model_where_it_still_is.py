try:
    from keras.utils import multi_gpu_model
except ImportError:
    multi_gpu_model = None
if multi_gpu_model:
    multi_gpu_model(model, gpus=2)
