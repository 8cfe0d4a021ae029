import tensorflow as tf
for g in tf.config.list_physical_devices("GPU"):
    if hasattr(g, "memory_limit"):
        print(g.memory_limit)
