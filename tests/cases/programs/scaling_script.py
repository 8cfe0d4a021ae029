import json, sys
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
    devices = [f"XPU:{place}" for place in range(count)]
    return replace(Job("mirrored", devices).planned_run, **{"status": "passed", **changes})

names = {"XPU:0": "CPU:0", "XPU:1": "CPU:1"}  # two logical CPU devices as accelerators of another kind, with small batches
calls = []

def note(frame, event, argument):
    """Note each trainer, and each trace of its step: nothing in the program is replaced."""
    if event == "call" and frame.f_code.co_name == "tf__from_iterator":  # as AutoGraph converts it
        calls.append("trace")
    elif event == "call" and frame.f_code.co_name == "__init__" and frame.f_globals["__name__"] == throughput.__name__:
        calls.append("trainer")

runs = [account(1), account(2), account(3, status="failed"), account(2, compiled=True)]
sys.setprofile(note)
whole = scaling.run(Setting(tf, keras, names, runs))
sys.setprofile(None)
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
print(json.dumps({"whole": whole, "calls": calls, "refused": refused, "sums": sums, "variables": variables}, default=to_builtins))
