import json, sys
from gpucheck.core.training import framework
from gpucheck.core.child.messages.struct import to_builtins
from gpucheck.core.child.messages.frameworks import FrameworkTask
from gpucheck.core.child.messages.training import Trained
from gpucheck.core.training.strategies import tpu
tpu.connect = lambda tf: len(tf.config.list_logical_devices()) and 2
runs = []
class Reporter:
    def begin(self, kind, job="", step=""): pass
    def receive(self, kind, timeout): return None
    def end(self, message, job=""):
        if isinstance(message, Trained): runs.append(to_builtins(message.run))
framework.run(Reporter(), FrameworkTask(True, 1, (), True, int(sys.argv[1]), False))
print(json.dumps(runs))
