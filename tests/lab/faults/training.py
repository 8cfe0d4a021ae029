"""What goes wrong while training, on a machine that has only its CPU: real TensorFlow trains, and something below it is not as it
should be.

The fault is put into the environment as a ``sitecustomize`` that changes one function as soon as its module is imported.
"""

from lab.bench import DEFAULT, Fault, Trial
from lab.faults.devices import NO_NVML
from lab.machines import Machine

NO_GPU = Machine(nodes=(), gpus=0, module=None)
AFTER_IMPORT = '''
import importlib.util, sys

class AfterImport:
    """Changes a module once it has been executed."""

    def __init__(self, name, change):
        self.name, self.change = name, change

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self.change(module)

        spec.loader.exec_module = exec_module
        return spec
'''


def patched(module: str, change: str):
    """The environment in which ``change``, the body of a function of ``module``, has been made."""
    body = "\n".join("    " + line for line in change.strip().splitlines())
    text = f"{AFTER_IMPORT}\ndef change(module):\n{body}\n\nsys.meta_path.insert(0, AfterImport({module!r}, change))\n"

    def build(trial: Trial) -> None:
        trial.own_environment().replace("sitecustomize.py", text)

    return build


def trained(name: str, expected: str | tuple[str, ...], module: str, change: str, *args: str, **more) -> Fault:
    """A fault that a training run on the CPU must show."""
    return Fault(
        name,
        expected,
        level=DEFAULT,
        scenario=NO_NVML,
        machine=NO_GPU,
        args=("--allow-cpu", *args),
        build=patched(module, change),
        **more,
    )


OPTIMIZER = "keras.src.backend.tensorflow.optimizer"
REDUCTION = "tensorflow.python.distribute.cross_device_ops"
DATASETS = "tensorflow.python.data.ops.dataset_ops"

FAULTS = (
    trained(
        "loss-becomes-nan",
        "loss-not-finite",
        "keras.src.optimizers.adam",
        """
first = module.Adam.__init__
def steep(self, *args, **options):
    first(self, learning_rate=1e30)
module.Adam.__init__ = steep
""",
        *("--strategy", "one_device"),
    ),
    trained(
        "gradients-become-nan-in-the-last-step",
        "loss-not-finite",
        "keras.src.optimizers.adam",
        """
finite = module.Adam.update_step
def late(self, gradient, variable, learning_rate):
    import tensorflow as tf
    if len(variable.shape) == 1:
        gradient = tf.where(tf.cast(self.iterations.value, tf.int64) >= 11, gradient * float("nan"), gradient)
    return finite(self, gradient, variable, learning_rate)
module.Adam.update_step = late
""",
        *("--strategy", "mirrored"),
    ),
    trained(
        "loss-does-not-fall",
        "loss-not-falling",
        "keras.src.optimizers.adam",
        """
first = module.Adam.__init__
def upwards(self, *args, **options):
    first(self, learning_rate=-1e-3)
module.Adam.__init__ = upwards
""",
        *("--strategy", "one_device"),
    ),
    trained(
        "gradients-of-each-replica-its-own",
        "replicas-diverged",
        OPTIMIZER,
        """
module.TFOptimizer._all_reduce_sum_gradients = lambda self, grads_and_vars: grads_and_vars
""",
        "--strategy",
        "mirrored",
    ),
    trained(
        "convolutions-fall-back-to-another-device",
        "cpu-fallback",
        "keras.src.layers.convolutional.base_conv",
        """
import tensorflow as tf
call = module.BaseConv.call
def elsewhere(self, inputs):
    with tf.device("/CPU:0"):
        return call(self, inputs)
module.BaseConv.call = elsewhere
""",
        "--strategy",
        "one_device",
        "--logical-devices",
        "2",
    ),
    trained(
        "input-pipeline-that-is-slow",
        "input-pipeline-bound",
        DATASETS,
        """
import sys, time
from gpucheck.child import experiments, plan
experiments.names = lambda: ["input_pipeline"]  # the other experiments and jobs of --full take long
every = plan.plan
plan.plan = lambda *wanted: every(*wanted)[:1]
def read_slowly(image):
    if "gpucheck.experiments.input_pipeline" in sys.modules:
        time.sleep(1.5)  # longer than a step, also on a busy machine: the next batch is read beside it
    return image
prefetch = module.DatasetV2.prefetch
def slowly(self, buffer_size, name=None):
    import tensorflow as tf
    if buffer_size == tf.data.AUTOTUNE:  # a remedy of the experiment: what it gives is not asked here
        return prefetch(self, buffer_size)
    def read(image, label):
        shape = image.shape
        image = tf.numpy_function(read_slowly, [image], image.dtype)
        image.set_shape(shape)
        return image, label
    return self.map(read)
module.DatasetV2.prefetch = slowly
""",
        *("--full", "--strategy", "one_device", "--logical-devices", "1"),
        exit=0,
        limit_seconds=300.0,
    ),
    trained(
        "all-reduce-fails",
        "training-failed",
        REDUCTION,
        """
def fail(self, *args, **options):
    raise RuntimeError("unhandled system error")
module.CollectiveAllReduce._all_reduce = fail
module.CollectiveAllReduce.batch_reduce_implementation = fail
module.CollectiveAllReduce.reduce_implementation = fail
""",
        "--strategy",
        "mirrored",
    ),
    trained(
        "all-reduce-never-ends",
        "training-failed",
        REDUCTION,
        """
import time
def hang(self, *args, **options):
    time.sleep(600)
module.CollectiveAllReduce._all_reduce = hang
module.CollectiveAllReduce.batch_reduce_implementation = hang
module.CollectiveAllReduce.reduce_implementation = hang
""",
        "--strategy",
        "mirrored",
    ),
    trained(
        "process-killed-in-the-first-step",
        "training-crashed",
        "keras.src.optimizers.adam",
        """
import os, signal
def die(self, *args, **options):
    os.kill(os.getpid(), signal.SIGSEGV)
module.Adam.update_step = die
""",
    ),
)
