import json, os, sys
os.environ["TF_USE_LEGACY_KERAS"] = "1"
sys.path.insert(0, sys.argv[1])
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from gpucheck.core.child.messages.struct import to_builtins
from gpucheck.core.child.messages.training import Job
from gpucheck.core.training.smoke import fit, parallel_devices
from gpucheck.core.training.smoke.tensorflow import TensorFlowJob

class Reporter:
    def begin(self, kind, job="", step=""): pass
    def end(self, message, job): pass

names = {"CPU:0": "CPU:0", "CPU:1": "CPU:1"}
jobs = [Job("one_device", (name,), "mixed_float16") for name in names]
alone = fit.train(Reporter(), tf.keras, jobs[0], TensorFlowJob(tf, tf.keras, jobs[0], names))
beside = parallel_devices.train(Reporter(), tf, tf.keras, jobs, names)
runs = [to_builtins(result) for result in (alone, *beside)]
print(json.dumps({"module": tf.keras.__name__, "runs": runs}))
