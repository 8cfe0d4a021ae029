import ray
import tensorflow as tf
print(len(tf.config.list_logical_devices("GPU")), "GPUs on the head node")
@ray.remote(num_gpus=1)
def train(seed):
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
ray.get([train.remote(seed) for seed in range(3)])
