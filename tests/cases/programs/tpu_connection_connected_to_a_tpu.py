import json, sys
from gpucheck.core.training import framework
from gpucheck.core.child.messages.struct import to_builtins
from gpucheck.core.child.messages.frameworks import FrameworkTask
from gpucheck.core.child.messages.training import Trained
import tensorflow as tf
listed = tf.config.list_logical_devices
tf.distribute.cluster_resolver.TPUClusterResolver = lambda tpu: tpu
tf.config.experimental_connect_to_cluster = lambda resolver: None
tf.tpu.experimental.initialize_tpu_system = lambda resolver: listed()
tf.config.list_logical_devices = lambda kind=None: ["TPU:0", "TPU:1"] if kind == "TPU" else listed(kind)
runs = []
class Reporter:
    def begin(self, kind, job="", step=""): pass
    def receive(self, kind, timeout): return None
    def end(self, message, job=""):
        if isinstance(message, Trained): runs.append(to_builtins(message.run))
framework.run(Reporter(), FrameworkTask(True, 1, (), True, int(sys.argv[1]), False))
print(json.dumps(runs))
