import json
import tensorflow as tf, keras
from gpucheck.core.child.messages.training import Job
from gpucheck.core.training.smoke import fit, parallel_devices
from gpucheck.core.training.smoke.tensorflow import TensorFlowJob

class Reporter:
    def begin(self, kind, job="", step=""): pass
    def end(self, message, job): print(json.dumps([job, message.run.status, message.run.reason, message.run.loss.first]))

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
names = {f"CPU:{number}": f"CPU:{number}" for number in range(3)}
jobs = [Job("one_device", (f"CPU:{number}",), "float32", True) for number in (1, 2)]
fit.train(Reporter(), keras, jobs[0], TensorFlowJob(tf, keras, jobs[0], names))
parallel_devices.train(Reporter(), tf, keras, jobs, names)
