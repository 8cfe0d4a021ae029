"""Keras 2, as old programs ask for it (TF_USE_LEGACY_KERAS=1): the same jobs train, and the experiments' step as well."""

import pathlib
import sys

import pytest
from in_tensorflow import MARKS, printed_by

LEGACY = pathlib.Path(sys.prefix) / "legacy"  # the Makefile puts tf_keras there
pytestmark = [*MARKS, pytest.mark.skipif(not (LEGACY / "tf_keras").is_dir(), reason=f"no tf_keras in {LEGACY}: make test")]

SCRIPT = """
import json, os, sys
os.environ["TF_USE_LEGACY_KERAS"] = "1"
sys.path.insert(0, sys.argv[1])
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from dataclasses import asdict
from gpucheck.child.messages.training import Job
from gpucheck.child.smoke import fit, together
from gpucheck.child.smoke.tensorflow import TensorFlowJob

class Reporter:
    def begin(self, kind, job="", step=""): pass
    def end(self, message, job): pass

names = {"CPU:0": "CPU:0", "CPU:1": "CPU:1"}
jobs = [Job("one_device", (name,), "mixed_float16") for name in names]
alone = fit.train(Reporter(), tf.keras, jobs[0], TensorFlowJob(tf, tf.keras, jobs[0], names))
beside = together.train(Reporter(), tf, tf.keras, jobs, names)
runs = [asdict(result) for result in (alone, *beside)]
print(json.dumps({"module": tf.keras.__name__, "runs": runs}))
"""


@pytest.fixture(scope="module")
def found():
    return printed_by(SCRIPT, str(LEGACY))


def test_it_is_keras_2(found):
    assert found["module"].startswith("tf_keras.")


def test_devices_train_alone_and_at_the_same_time(found):
    assert [(run["loop"], run["status"], run["reason"]) for run in found["runs"]] == [
        ("fit", "passed", None),
        ("train_step", "passed", None),
        ("train_step", "passed", None),
    ]
    first, *others = (run["loss"]["first"] for run in found["runs"])
    assert others == pytest.approx([first, first], rel=1e-3)
