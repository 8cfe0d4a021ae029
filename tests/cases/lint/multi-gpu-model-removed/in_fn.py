from keras.utils import multi_gpu_model
def f(m, n):
  if n > 1:
    m=multi_gpu_model(m,gpus=n)  # finding
  return m
