try:
    from keras.utils import multi_gpu_model
except ImportError:
    raise SystemExit("too new")
multi_gpu_model(model, gpus=2)
