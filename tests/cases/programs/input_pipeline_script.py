import json
from gpucheck.core.child.messages.struct import replace, to_builtins
import keras
import tensorflow as tf
from gpucheck.core.child.messages.training import Job
from gpucheck.core.training.experiments import NotHere, Setting
from gpucheck.core.training.smoke import network
from gpucheck.core.training.experiments import input_pipeline

run = replace(Job("one_device", ("CPU:0",)).planned_run, status="passed")
whole = to_builtins(input_pipeline.run(Setting(tf, keras, {"CPU:0": "CPU:0"}, [run])))

plain = input_pipeline.optimization_steps(tf, 2, network.arrays(8))
rewrites = {name: vars(data.options().experimental_optimization)["_options"] for name, data in plain.items()}

class Changed:
    """A module or class with other attributes."""
    def __init__(self, whole, **others):
        self.whole = whole
        vars(self).update(others)
    def __getattr__(self, name):
        return getattr(self.whole, name)

def slow(tensors):
    def sleep(image, label):
        with tf.control_dependencies([tf.py_function(lambda: __import__("time").sleep(0.05), [], [])]):
            return tf.identity(image), label
    data = tf.data.Dataset.from_tensor_slices(tensors)
    return data.map(sleep) if hasattr(tensors[0], "ndim") else data  # not the JPEGs

slow_tf = Changed(tf, data=Changed(tf.data, Dataset=Changed(tf.data.Dataset, from_tensor_slices=slow)))
starved = input_pipeline.run(Setting(slow_tf, keras, {"CPU:0": "CPU:0"}, [run]))

try:
    input_pipeline.run(Setting(tf, keras, {"GPU:0": "GPU:0", "CPU:0": "CPU:0"}, [run]))
except NotHere as reason:
    refused = str(reason)
policy = keras.mixed_precision.dtype_policy().name
print(json.dumps({"whole": whole, "rewrites": rewrites, "starved": starved, "refused": refused, "policy": policy}, default=to_builtins))
