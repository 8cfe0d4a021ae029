import os
os.environ["KERAS_BACKEND"] = "torch"
import torch, keras
def per_device_launch_fn(current_gpu_index, num_gpu):
    model = keras.Sequential([keras.layers.Dense(10)])
    model.to(torch.device(f"cuda:{current_gpu_index}"))
torch.multiprocessing.start_processes(per_device_launch_fn, args=(2,), nprocs=2, join=True, start_method="fork")
