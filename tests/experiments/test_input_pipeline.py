"""What the pipeline costs, measured with the real TensorFlow on the CPU; and a deliberately slow one, named by the rules."""

import msgspec
import pytest
from experiments.page import differences
from fakes import readings
from in_tensorflow import MARKS, printed_by
from one_rule import RULES

from gpucheck.engine.facts import Facts
from gpucheck.engine.pipeline import judge
from gpucheck.model import Experiment, Reading, Status, TrainingRun
from gpucheck.probes.training import Training

pytestmark = MARKS

SCRIPT = """
import json
import keras
import tensorflow as tf
from gpucheck.child.experiments import NotHere, Setting
from gpucheck.child.smoke import network
from gpucheck.experiments import input_pipeline

run = {"strategy": "one_device", "devices": ["CPU:0"], "precision": "float32", "compiled": False, "status": "passed",
       "stage": None, "replicas": 1, "samples_per_second": 400.0}
whole = input_pipeline.run(Setting(None, tf, keras, {"CPU:0": "CPU:0"}, [run]))

plain = input_pipeline.ladder(tf, 2, network.arrays(8))
rewrites = {name: vars(data.options().experimental_optimization)["_options"] for name, data in plain.items()}

fast = network.dataset
def slow(tf, global_batch, drop_remainder=True):
    def sleep(images, labels):
        with tf.control_dependencies([tf.py_function(lambda: __import__("time").sleep(0.4), [], [])]):
            return tf.identity(images), labels
    return fast(tf, global_batch, drop_remainder).map(sleep)
network.dataset = slow
input_pipeline.ladder = lambda *_: {}
starved = input_pipeline.run(Setting(None, tf, keras, {"CPU:0": "CPU:0"}, [run]))

try:
    input_pipeline.run(Setting(None, tf, keras, {"GPU:0": "GPU:0", "CPU:0": "CPU:0"}, [run]))
except NotHere as reason:
    refused = str(reason)
policy = keras.mixed_precision.dtype_policy().name
print(json.dumps({"whole": whole, "rewrites": rewrites, "starved": starved, "refused": refused, "policy": policy}))
"""


@pytest.fixture(scope="module")
def measured():
    return printed_by(SCRIPT)


def test_figures_have_their_units_and_are_measured(measured):
    figures = measured["whole"]["figures"]
    assert measured["whole"]["devices"] == ["CPU:0"]
    remedies = ("plain", "prefetch", "parallel_map", "cache", "larger_batch")
    rates = ["device", "piped", "smoke_pipeline", *(f"jpeg_{remedy}" for remedy in remedies)]
    assert [name for name in figures if name.endswith("_samples_per_second")] == [f"{name}_samples_per_second" for name in rates]
    assert all(figures[f"{name}_samples_per_second"] > 0 for name in rates)
    assert figures["jpeg_decode_and_augment_seconds_per_sample"] > 0
    assert (figures["batch_size"], figures["jpeg_larger_batch_size"]) == (16, 32)
    # The smoke job's pipeline only slices arrays; however busy the machine is, its steps don't wait for that.
    assert 0 <= figures["input_wait_share"] < 0.2


@pytest.mark.parametrize("made", ["whole", "starved"])
def test_the_gap_between_piped_and_resident_steps_is_told_whole(measured, made):
    figures = measured[made]["figures"]
    gap = 1 - figures["piped_samples_per_second"] / figures["device_samples_per_second"]
    assert figures["input_wait_share"] + figures["other_slowdown_share"] == pytest.approx(gap, abs=5e-3)


def test_a_step_waits_no_longer_than_the_pipeline_takes(measured):
    """Another load on the machine is not the pipeline's."""
    figures = measured["whole"]["figures"]
    most = figures["piped_samples_per_second"] / figures["smoke_pipeline_samples_per_second"]
    assert figures["input_wait_share"] <= most + 1e-3


def test_every_figure_is_explained(measured):
    assert differences("input_pipeline", measured["whole"]["figures"]) == []


def test_the_run_of_that_device_is_told_what_was_found(measured):
    (fields,) = measured["whole"]["fields"].values()
    figures = measured["whole"]["figures"]
    assert list(measured["whole"]["fields"]) == ["train one_device CPU:0 float32"]
    told = ("device_samples_per_second", "piped_samples_per_second", "input_wait_share")  # all three of the same steps
    assert fields == {name: figures[name] for name in told}
    msgspec.convert({"strategy": "one_device", "devices": ["CPU:0"], "replicas": 1, "precision": "float32", "status": "passed",
                     **fields}, TrainingRun)  # fmt: skip


def test_tensorflow_does_not_add_what_is_to_be_measured(measured):
    assert list(measured["rewrites"]) == ["plain", "prefetch", "parallel_map", "cache", "larger_batch"]
    for rewrites in measured["rewrites"].values():
        assert rewrites["apply_default_optimizations"] is False
        assert rewrites["map_parallelization"] is False
        assert rewrites["inject_prefetch"] is False


def test_a_slow_pipeline_is_named_from_its_measurements(measured):
    fields = measured["starved"]["fields"]["train one_device CPU:0 float32"]
    assert 0.2 < fields["input_wait_share"] <= 1
    run = {"strategy": "one_device", "devices": ["CPU:0"], "replicas": 1, "precision": "float32", "status": "passed", **fields}
    experiments = [
        {"name": "input_pipeline", "status": "passed"} | {key: measured["starved"][key] for key in ("devices", "figures")}
    ]
    training = msgspec.convert({"runs": [run], "experiments": experiments}, Training)
    (judgement,) = judge(
        Facts([*readings({}), Reading(probe="training", status="ok", fact=training)]), [RULES["input-pipeline-bound"]]
    )
    assert judgement.outcome.status is Status.FOUND
    piped, alone = (measured["starved"]["figures"][f"{name}_samples_per_second"] for name in ("piped", "device"))
    assert f"{piped:.0f} samples per second instead of {alone:.0f}" in judgement.finding.summary
    assert piped < alone


def test_it_is_made_on_an_accelerator_or_not_at_all(measured):
    assert measured["refused"] == "no accelerator has trained alone in float32"
    assert measured["policy"] == "float32"


def test_it_fits_the_report(measured):
    made = {"name": "input_pipeline", "status": "passed", **{key: measured["whole"][key] for key in ("devices", "figures")}}
    assert msgspec.convert(made, Experiment).figures["jpeg_plain_samples_per_second"] > 0
