from parallel import *

model = multi_gpu_model(model, gpus=2)
