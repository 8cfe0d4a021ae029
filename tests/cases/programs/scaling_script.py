import json
from gpucheck.core.child.messages.struct import replace, to_builtins
import keras
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from gpucheck.core.child.experiments import NotHere, Setting
from gpucheck.core.child.smoke import network, throughput
from gpucheck.core.training.experiments import scaling
from gpucheck.core.training import strategies
from gpucheck.core.child.messages.training import Job

def account(count, **changes):
    devices = [f"CPU:{place}" for place in range(count)]
    return replace(Job("mirrored", devices).planned_run, **{"status": "passed", **changes})

names = {"CPU:0": "CPU:0", "CPU:1": "CPU:1"}
traces = []
made = throughput.Trainer
class Counted(made):
    def __init__(self, *given):
        super().__init__(*given)
        traces.append(self)
throughput.Trainer = Counted
whole = scaling.run(Setting(tf, keras, names, [account(1), account(2), account(8, status="failed"), account(2, compiled=True)]))
counts = [one._from_iterator.experimental_get_tracing_count() for one in traces]
refused = []
for runs in ([], [account(1)], [account(2, status="failed")]):
    try:
        scaling.run(Setting(tf, keras, names, runs))
    except NotHere as reason:
        refused.append(str(reason))

two = [f"GPU:{place}" for place in range(2)]
accelerated = scaling.run(
    Setting(tf, keras, {"GPU:0": "CPU:0", "GPU:1": "CPU:1"}, [account(2, devices=two)])
)

strategy = strategies.build("mirrored", tf, ("CPU:0", "CPU:1"))
summed = scaling.exchange(tf, strategy)(strategy.run(lambda: [tf.ones((2, 3)), tf.ones((4,))]))
sums = [[one.numpy().tolist() for one in strategy.experimental_local_results(value)] for value in summed]
variables = sum(int(tf.size(one.value)) for one in network.model(keras, False).trainable_variables)
print(json.dumps({"whole": whole, "traces": counts, "refused": refused, "sums": sums, "variables": variables,
                  "accelerated": accelerated}, default=to_builtins))
