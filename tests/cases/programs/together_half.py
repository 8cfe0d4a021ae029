import json
from gpucheck.core.child.messages.struct import to_builtins
import tensorflow as tf, keras
from gpucheck.core.child.messages.training import Job
from gpucheck.core.training.smoke import parallel_devices

class Reporter:
    def begin(self, kind, job="", step=""): pass
    def end(self, message, job): pass

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
names = {f"CPU:{number}": f"CPU:{number}" for number in range(2)}
jobs = [Job("one_device", (name,), "mixed_float16") for name in names]
print(json.dumps([to_builtins(result) for result in parallel_devices.train(Reporter(), tf, keras, jobs, names)]))
assert not tf.config.optimizer.get_experimental_options()["disable_meta_optimizer"]  # the option is restored for later jobs
