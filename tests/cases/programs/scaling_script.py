import json
from gpucheck.core.child.messages.struct import replace, to_builtins
import keras
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from gpucheck.core.training.experiments import NotHere, Setting
from gpucheck.core.training.smoke import network, throughput
from gpucheck.core.training.experiments import scaling
from gpucheck.core.training import strategies
from gpucheck.core.child.messages.training import Job

def account(count, **changes):
    devices = [f"GPU:{place}" for place in range(count)]
    return replace(Job("mirrored", devices).planned_run, **{"status": "passed", **changes})

names = {"GPU:0": "CPU:0", "GPU:1": "CPU:1"}  # two logical CPU devices instead of GPUs
network.PER_REPLICA_BATCH["GPU"] = 16
traces = []
made = throughput.Trainer
class Counted(made):
    def __init__(self, *given):
        super().__init__(*given)
        traces.append(self)
throughput.Trainer = Counted
runs = [account(1), account(2), account(3, status="failed"), account(2, compiled=True)]
whole = scaling.run(Setting(tf, keras, names, runs))
counts = [one._from_iterator.experimental_get_tracing_count() for one in traces]
refused = []
processor = {"CPU:0": "CPU:0", "CPU:1": "CPU:1"}
for places, runs in ((names, []), (names, [account(1)]), (names, [account(2, status="failed")]), (processor, [account(2)])):
    try:
        scaling.run(Setting(tf, keras, places, runs))
    except NotHere as reason:
        refused.append(str(reason))

strategy = strategies.build("mirrored", tf, ("CPU:0", "CPU:1"))
summed = scaling.exchange(tf, strategy)(strategy.run(lambda: [tf.ones((2, 3)), tf.ones((4,))]))
sums = [[one.numpy().tolist() for one in strategy.experimental_local_results(value)] for value in summed]
variables = sum(int(tf.size(one.value)) for one in network.model(keras, False).trainable_variables)
print(json.dumps({"whole": whole, "traces": counts, "refused": refused, "sums": sums, "variables": variables}, default=to_builtins))
