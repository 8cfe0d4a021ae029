import json
from gpucheck.core.child.messages.struct import to_builtins
import tensorflow as tf, keras
from gpucheck.core.child.messages.training import Job
from gpucheck.core.training.smoke import fit
from gpucheck.core.training.smoke.tensorflow import TensorFlowJob

class Reporter:
    def begin(self, kind, job="", step=""): pass
    def end(self, message, job): print(json.dumps(to_builtins(message.run)))

class SeveralSteps(TensorFlowJob):
    def open(self):
        replicas, _ = super().open()
        return replicas, 4

job = Job("one_device", ("CPU:0",), "mixed_bfloat16")
fit.train(Reporter(), keras, job, SeveralSteps(tf, keras, job, {"CPU:0": "CPU:0"}))
