"""Scaling over two logical CPU devices, measured with the real TensorFlow: the definition, and what is told apart."""

import pytest
from experiments.page import differences
from in_tensorflow import MARKS, printed_by

pytestmark = MARKS

SCRIPT = """
import json
from dataclasses import asdict
import keras
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from gpucheck.child.experiments import NotHere, Setting
from gpucheck.child.smoke import network, throughput
from gpucheck.experiments import scaling
from gpucheck import strategies
from gpucheck.child.messages.training import JobResult

def account(count, **changes):
    devices = [f"CPU:{place}" for place in range(count)]
    return JobResult(**{"strategy": "mirrored", "devices": devices, "precision": "float32", "status": "passed", **changes})

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
                  "accelerated": accelerated}, default=asdict))
"""


@pytest.fixture(scope="module")
def measured():
    return printed_by(SCRIPT)


def test_efficiency_can_be_computed_from_its_terms(measured):
    figures = measured["whole"]["figures"]
    for prefix in ("", "doubled_batch_"):
        together, one = (figures[f"{prefix}{name}_samples_per_second"] for name in ("all_devices", "one_device"))
        assert figures[f"{prefix}scaling_efficiency"] == pytest.approx(together / (2 * one), rel=1e-3)
    for name, samples in (("one_device", 16), ("all_devices", 2 * 16)):
        rate, seconds = figures[f"{name}_samples_per_second"], figures[f"{name}_step_seconds"]
        assert rate == pytest.approx(samples / seconds, rel=1e-2)
    assert (figures["replicas"], figures["per_replica_batch_size"]) == (2, 16)


def test_the_largest_run_that_passed_is_measured(measured):
    assert measured["whole"]["devices"] == ["CPU:0", "CPU:1"]


def test_logical_cpu_devices_share_their_cores(measured):
    """What they reach together is a figure of the experiment, and says nothing of the job's devices."""
    assert measured["whole"]["about_job"] is None


def test_the_job_on_accelerators_is_told_its_efficiency(measured):
    assert measured["accelerated"]["about_job"] == "mirrored GPU:0,GPU:1 float32"
    figures = {name: value for name, value in measured["accelerated"]["job_figures"].items() if value is not None}
    assert list(figures) == ["scaling_efficiency", "doubled_batch_scaling_efficiency"]
    assert all(value > 0 for value in figures.values())


def test_exchange_and_computing_are_measured_apart(measured):
    figures = measured["whole"]["figures"]
    assert figures["gradient_bytes"] == 4 * measured["variables"]
    steps = [f"{name}_repeated_batch_step_seconds" for name in ("one_device", "all_devices")]
    for name in ("gradient_all_reduce_seconds", *steps):
        assert figures[name] > 0


def test_a_rate_of_exchange_has_its_bytes_and_its_seconds(measured):
    figures = measured["whole"]["figures"]
    size, seconds, rate = (figures[f"large_all_reduce_{name}"] for name in ("bytes", "seconds", "bytes_per_second"))
    assert size == 4 << 20
    assert rate == pytest.approx(size / seconds, rel=1e-2)


def test_every_figure_is_explained(measured):
    assert differences("scaling", measured["whole"]["figures"]) == []


def test_the_exchange_really_sums(measured):
    assert measured["sums"] == [[[[2.0] * 3] * 2] * 2, [[2.0] * 4] * 2]


def test_both_batch_sizes_take_one_trace(measured):
    """Tracing costs seconds on each replica."""
    assert measured["traces"] == [1, 1]


def test_one_replica_does_not_scale(measured):
    assert measured["refused"] == ["no mirrored job on several devices has passed"] * 3
