import json
from gpucheck.core.child.messages.struct import to_builtins
import tensorflow as tf, keras
from gpucheck.core.child.messages.training import Job
from gpucheck.core.training.smoke import fit
from gpucheck.core.training.smoke.tensorflow import TensorFlowJob
from gpucheck.core.training.strategies import one_device

class Reporter:
    def begin(self, kind, job="", step=""): pass
    def end(self, message, job): print(json.dumps(to_builtins(message.run)))

one_device.STRATEGY = one_device.STRATEGY._replace(steps_per_execution=4)
job = Job("one_device", ("CPU:0",), "mixed_bfloat16")
fit.train(Reporter(), keras, job, TensorFlowJob(tf, keras, job, {"CPU:0": "CPU:0"}))
