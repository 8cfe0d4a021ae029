import json, sys
import keras
import tensorflow as tf
from gpucheck.core.training import bench
from gpucheck.core.child.messages.benchmark import BenchJob, BenchTask, Configuration, Measured
from gpucheck.core.child.messages.frameworks import KerasImported
sys.path.insert(0, sys.argv[1])
CASES = {
    "batched on 2": {"count": 2}, "batched on 2, batch 8": {"count": 2, "batch": 8}, "samples on 2": {"count": 2},
    "own_step": {}, "own_step on 2": {"count": 2}, "batched_by_25 on 2": {"count": 2}, "batched, XLA, 2 at once": {"xla": True, "at_once": 2},
    "low_precision, mixed_bfloat16": {"precision": "mixed_bfloat16"}, "compiled, target": {"target": 0.5},
    "arrays, mixed_bfloat16, own policy": {"precision": "mixed_bfloat16", "function": "own_policy"},
    **{name: {} for name in (
        "compiled uncompiled regression arrays named_inputs subclass batched samples nothing texts iterator empty low_precision"
        " unknown_shape whole_numbers no_function missing:make wrong_shape other_lengths raises exits layer_raises step_raises"
    ).split()},
}
cpu = tf.config.list_physical_devices("CPU")[0]
found, remaining = {}, list(CASES.items())

class Reporter:
    """Asks for one case after the other, each as a job of its own."""
    def begin(self, kind, job="", step=""): pass
    def receive(self, kind, timeout):
        self.name, case = remaining.pop()
        count = case.get("count", 1)
        names = tuple(f"CPU:{number}" for number in range(count))
        one = Configuration("mirrored" if count > 1 else "one_device", names, case.get("precision", "float32"),
                            case.get("xla", False), case.get("batch", 0), case.get("at_once", 1))
        function = case.get("function", self.name.partition(",")[0].partition(" ")[0])
        model = function if ":" in function else f"own_models:{function}"
        return BenchJob(0, [one], "synthetic", 4, 1, 3, case.get("target"), None, model)
    def end(self, message, job=""):
        if isinstance(message, Measured):
            shown = [message.global_batch_size, message.generated, bool(message.repeats and message.repeats[0].accuracies)]
            found[self.name] = message.problem or shown

tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
while remaining:
    bench.run(Reporter(), BenchTask(1))
print(json.dumps(found))
